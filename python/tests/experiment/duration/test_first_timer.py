"""First retransmission time-outs that are shorter than an answer takes."""

from __future__ import annotations

from pathlib import Path

from tests.asked import load_experiment
from wirelab.plan import make_plan
from wirelab.schema.plan import Scenario
from wirelab.schema.short_timer import ShortTimer

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
    plan = make_plan(load_experiment(str(file), sets))
    return [each.short_timer for each in plan.scenarios if each.short_timer is not None]


def short(name: str, timer_ms: int, *, is_setting: bool) -> ShortTimer:
    return ShortTimer(name=name, is_setting=is_setting, timer_ns=timer_ms * MS, answer_ns=WAKING, takes=WAKES)


def test_waking_is_longer_than_each_first_timer(tmp_path: Path) -> None:
    assert found(tmp_path) == [
        short("ack-timeout", 2000, is_setting=True),
        short("dtls-retransmit-timeout", 1000, is_setting=True),
        short("TCP's SYN", 1000, is_setting=False),
        short("QUIC's first packet", 999, is_setting=False),
    ]


def test_a_short_timer_is_in_the_plan_and_may_be_absent(tmp_path: Path) -> None:
    file = tmp_path / "asleep.toml"
    file.write_text(TEXT)
    plan = make_plan(load_experiment(str(file), ("protocol=coap,http1", "workload.connection=persistent")))
    coap, http1 = plan.to_json()["scenarios"]
    assert coap["short_timer"]["name"] == "ack-timeout"
    assert "short_timer" not in http1
    earlier = {key: value for key, value in coap.items() if key != "short_timer"}
    assert Scenario.model_validate(earlier) == plan.scenarios[0].model_copy(update={"short_timer": None})


def test_a_longer_time_out_is_long_enough_and_one_is_proposed(tmp_path: Path) -> None:
    [timer] = found(tmp_path, "protocol=coap")
    assert timer.enough_s == 6
    assert found(tmp_path, "protocol=coap", "protocols.coap.ack-timeout=6s") == []


def test_a_radio_that_stays_awake_needs_a_round_trip_only(tmp_path: Path) -> None:
    assert found(tmp_path, "workload.interval=5s") == []
    [timer] = found(tmp_path, "workload.interval=5s", "protocol=coap", "link.delay=1.5s")
    assert (timer.answer_ns, timer.takes) == (3000 * MS, "a round trip")


def test_a_radio_that_sleeps_before_the_answer_receives_it_in_its_next_cycle(tmp_path: Path) -> None:
    """Measured over nb-iot-psm: 4.99 s, and 2.95 s with a retransmission, which keeps the radio awake."""
    sleeps = "[{ after = '200 ms', cycle = '2.048 s', wake = '0 ms' }, { after = '10 s', wake = '2.7 s' }]"
    drx = (f"link.radio={{ buffer = '16 kB', sleeps = {sleeps} }}", "link.delay=101ms", "protocol=coap")
    [timer] = found(tmp_path, *drx)
    assert timer.takes == "waking, a round trip and the radio's sleep before the answer"
    assert timer.answer_ns == (2700 + 200 + 2048) * MS
    assert found(tmp_path, *drx, "protocols.coap.ack-timeout=6s") == []
    [awake] = found(tmp_path, *drx, "workload.interval=5s", "protocols.coap.ack-timeout=1s")
    assert awake.takes == "a round trip and the radio's sleep before the answer"
    assert awake.answer_ns == (200 + 2048) * MS


def test_messages_that_nothing_answers_are_not_sent_again(tmp_path: Path) -> None:
    assert found(tmp_path, "protocol=http1", "workload.connection=persistent") == []
    assert [each.name for each in found(tmp_path, "protocol=coaps", "workload.connection=persistent")] == [
        "ack-timeout"
    ]
