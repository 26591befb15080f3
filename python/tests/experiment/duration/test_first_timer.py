"""First retransmission time-outs that are shorter than an answer takes."""

from __future__ import annotations

from pathlib import Path

from tests.asked import load_experiment
from wirelab.experiment.duration.first_timer import ShortTimer, short_timers
from wirelab.plan import make_plan

TEXT = """
title = "asleep"
[factors]
protocol = ["coap", "coaps", "http1", "h3"]
[link]
delay = "100 ms"
radio = { buffer = "16 kB", sleeps = [{ after = "10 s", wake = "2.7 s" }] }
[workload]
kind = "telemetry"
message = "30 B"
interval = "10 min"
connection = "new"
[stop]
replicates = 1
"""
MS = 10**6
WAKING = 2900 * MS


def found(folder: Path, *sets: str) -> list[ShortTimer]:
    file = folder / "asleep.toml"
    file.write_text(TEXT)
    return short_timers(make_plan(load_experiment(str(file), sets)))


def test_waking_is_longer_than_each_first_timer(tmp_path: Path) -> None:
    assert found(tmp_path) == [
        ShortTimer("coap", "link", "ack-timeout", True, 2000 * MS, WAKING, True),
        ShortTimer("coaps", "link", "DTLS's first flight", False, 1000 * MS, WAKING, True),
        ShortTimer("http1", "link", "TCP's SYN", False, 1000 * MS, WAKING, True),
        ShortTimer("h3", "link", "QUIC's first packet", False, 999 * MS, WAKING, True),
    ]


def test_a_longer_time_out_is_long_enough_and_one_is_proposed(tmp_path: Path) -> None:
    [short] = found(tmp_path, "protocol=coap")
    assert short.enough_s == 6
    assert found(tmp_path, "protocol=coap", "protocols.coap.ack-timeout=6s") == []


def test_a_radio_that_stays_awake_needs_a_round_trip_only(tmp_path: Path) -> None:
    assert found(tmp_path, "workload.interval=5s") == []
    [short] = found(tmp_path, "workload.interval=5s", "protocol=coap", "link.delay=1.5s")
    assert (short.answer_ns, short.wakes) == (3000 * MS, False)


def test_messages_that_nothing_answers_are_not_sent_again(tmp_path: Path) -> None:
    assert found(tmp_path, "protocol=http1", "workload.connection=persistent") == []
    assert [each.name for each in found(tmp_path, "protocol=coaps", "workload.connection=persistent")] == [
        "ack-timeout"
    ]
