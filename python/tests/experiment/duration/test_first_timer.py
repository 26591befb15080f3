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
WAKING, WAKES = 2900 * MS, "waking and a round trip"


def found(folder: Path, *sets: str) -> list[ShortTimer]:
    file = folder / "asleep.toml"
    file.write_text(TEXT)
    return short_timers(make_plan(load_experiment(str(file), sets)))


def test_waking_is_longer_than_each_first_timer(tmp_path: Path) -> None:
    assert found(tmp_path) == [
        ShortTimer("coap", "link", "ack-timeout", True, 2000 * MS, WAKING, WAKES),
        ShortTimer("coaps", "link", "dtls-retransmit-timeout", True, 1000 * MS, WAKING, WAKES),
        ShortTimer("http1", "link", "TCP's SYN", False, 1000 * MS, WAKING, WAKES),
        ShortTimer("h3", "link", "QUIC's first packet", False, 999 * MS, WAKING, WAKES),
    ]


def test_a_longer_time_out_is_long_enough_and_one_is_proposed(tmp_path: Path) -> None:
    [short] = found(tmp_path, "protocol=coap")
    assert short.enough_s == 6
    assert found(tmp_path, "protocol=coap", "protocols.coap.ack-timeout=6s") == []


def test_a_radio_that_stays_awake_needs_a_round_trip_only(tmp_path: Path) -> None:
    assert found(tmp_path, "workload.interval=5s") == []
    [short] = found(tmp_path, "workload.interval=5s", "protocol=coap", "link.delay=1.5s")
    assert (short.answer_ns, short.takes) == (3000 * MS, "a round trip")


def test_a_radio_that_sleeps_before_the_answer_receives_it_in_its_next_cycle(tmp_path: Path) -> None:
    """Measured over nb-iot-psm: 4.99 s, and 2.95 s with a retransmission, which keeps the radio awake."""
    sleeps = "[{ after = '200 ms', cycle = '2.048 s', wake = '0 ms' }, { after = '10 s', wake = '2.7 s' }]"
    drx = (f"link.radio={{ buffer = '16 kB', sleeps = {sleeps} }}", "link.delay=101ms", "protocol=coap")
    [short] = found(tmp_path, *drx)
    assert short.takes == "waking, a round trip and the radio's sleep before the answer"
    assert short.answer_ns == (2700 + 200 + 2048) * MS
    assert found(tmp_path, *drx, "protocols.coap.ack-timeout=6s") == []
    [awake] = found(tmp_path, *drx, "workload.interval=5s", "protocols.coap.ack-timeout=1s")
    assert awake.takes == "a round trip and the radio's sleep before the answer"
    assert awake.answer_ns == (200 + 2048) * MS


def test_messages_that_nothing_answers_are_not_sent_again(tmp_path: Path) -> None:
    assert found(tmp_path, "protocol=http1", "workload.connection=persistent") == []
    assert [each.name for each in found(tmp_path, "protocol=coaps", "workload.connection=persistent")] == [
        "ack-timeout"
    ]
