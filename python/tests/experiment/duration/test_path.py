"""A link as a flow meets it: from what the agent says of it alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.asked import facts
from wirelab.experiment.duration.path import Path, Way, path

S = 10**9
QUEUE = {"discipline": "drop-tail", "bytes": 1000}
POINTS = [
    {"at_ns": 0, "delay_ns": 10, "rate_bps": 3000, "loss": 0.2},
    {"at_ns": S, "delay_ns": 20, "rate_bps": 1000},
]
SCHEDULE = {"kind": "schedule", "points": POINTS, "repeat_ns": 2 * S, "queue": QUEUE}
SLEEPS = [{"after_ns": S, "cycle_ns": 2 * S, "wake_ns": 1000}, {"after_ns": 10 * S, "wake_ns": 5000}]
WIFI = {
    "kind": "wifi", "rate_bps": 8_000_000, "overhead_bytes": 0, "preamble_ns": 20_000, "ack_ns": 28_000,
    "slot_ns": 10_000, "sifs_ns": 16_000, "difs_ns": 36_000, "cw_min": 10, "cw_max": 1023, "retries": 7,
    "frame_error": 0.5, "queue_bytes": 1,
}  # fmt: skip
IEEE802154 = {
    "kind": "ieee802154", "compressed_bytes": 0, "mac_bytes": 27, "frame_error": 0, "retries": 3, "max_backoffs": 4,
    "min_be": 3, "max_be": 5, "queue_bytes": 1,
}  # fmt: skip


def up(*stages: dict[str, Any], packets: int | None = None) -> Way:
    return path(facts({"uplink": stages}), packets).uplink


def loss(stage: dict[str, Any], packets: int | None = None) -> tuple[float, float]:
    way = up(stage, packets=packets)
    return way.loss, way.loss_again


def medium(**spec: Any) -> Way:
    return path(facts({"medium": spec})).uplink


def asleep() -> Path:
    return path(facts({"radio": {"sleeps": SLEEPS, "buffer_bytes": 1}}))


def test_delays_of_stages_and_schedules_add_up() -> None:
    assert up({"kind": "delay", "delay_ns": 100}, SCHEDULE).delay_ns == 115


@pytest.mark.parametrize(
    ("stage", "rate_bps"),
    [
        ({"kind": "rate", "rate_bps": 1000, "queue": QUEUE}, 1000),
        ({"kind": "duty-cycle", "rate_bps": 1000, "share": 0.1, "queue": QUEUE}, 100),
        ({"kind": "delivery-trace", "opportunities_ms": [500, 1000], "queue": QUEUE}, 24_000),
        (SCHEDULE, 2000),
        ({"kind": "loss", "probability": 0.1}, None),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_a_direction_has_the_rate_of_its_stage(stage: dict[str, Any], rate_bps: float | None) -> None:
    assert up(stage).rate_bps == (None if rate_bps is None else pytest.approx(rate_bps))


def test_a_schedule_without_a_rate_limits_nothing() -> None:
    points = [{"at_ns": 0, "delay_ns": 10}, {"at_ns": S}]
    assert up({"kind": "schedule", "points": points, "queue": QUEUE}).rate_bps is None


def test_the_slowest_of_several_stages_decides() -> None:
    rates = [{"kind": "rate", "rate_bps": rate, "queue": QUEUE} for rate in (3000, 1000, 2000)]
    assert up(*rates).rate_bps == 1000


def test_a_medium_takes_the_time_of_its_frames() -> None:
    assert up().sending_ns(1000, 1) == 0
    assert medium(kind="serialiser", rate_bps=8000, queue_bytes=1).sending_ns(1000, 1) == S
    wifi = medium(**WIFI)
    clear = medium(**{**WIFI, "frame_error": 0})
    assert clear.sending_ns(1000, 1) == 1_000_000 + 36_000 + 50_000 + 16_000 + 28_000 + 20_000
    assert 2 * clear.sending_ns(1000, 1) < wifi.sending_ns(1000, 1) < 2.5 * clear.sending_ns(1000, 1)
    assert wifi.loss == wifi.loss_again == pytest.approx(0.5**8)
    air = medium(**IEEE802154)
    assert 4_000_000 < air.sending_ns(50, 1) < air.sending_ns(100, 1) < 12_000_000
    assert air.rate_bps is not None
    assert air.rate_bps < 250_000


def test_a_medium_is_shared_by_directions_and_hosts_and_radio_and_nat_are_not() -> None:
    assert path(facts({"medium": WIFI})).shared
    assert not asleep().shared


def test_repeated_outages_cost_their_share_of_time() -> None:
    held = {"kind": "outage", "start_ns": 0, "duration_ns": 2 * S, "every_ns": 10 * S, "hold_bytes": 1}
    dropped = {key: value for key, value in held.items() if key != "hold_bytes"}
    once = {"kind": "outage", "start_ns": 0, "duration_ns": S}
    assert [up(each).pause_ns for each in (held, dropped, once)] == [0.2 * S, 0.4 * S, 0]


def test_the_queueing_bound_is_the_longest_drop_tail_queue() -> None:
    packets = {"discipline": "drop-tail", "packets": 4}
    short = {"discipline": "codel", "bytes": 10**6, "target_ns": 5_000_000, "interval_ns": 100_000_000}
    rate = {"kind": "rate", "rate_bps": 1000}
    assert up({**rate, "queue": QUEUE}, {**rate, "queue": packets}).queue_bytes == 6000
    assert up({**rate, "queue": short}).queue_bytes == 0
    assert medium(**{**WIFI, "queue_bytes": 7000}).queue_bytes == 7000


def test_wake_up_is_counted_if_the_radio_had_time_to_sleep() -> None:
    assert path(facts({})).waking_ns(100 * S, 1, 1, 1) == 0
    assert [asleep().waking_ns(gap_ns, 1, 1, 0) for gap_ns in (0, 2 * S, 100 * S)] == [0, 1000, 5000]


def test_a_trial_begins_in_the_deepest_sleep() -> None:
    assert asleep().waking_ns(0, 1, 1, 1) == 5000
    assert asleep().waking_ns(0, 1, 1, 0.25) == 1250


def test_an_answer_to_a_sleeping_radio_waits_until_it_listens() -> None:
    radio = asleep()
    assert radio.waking_ns(0, S, 2, 0) == 0
    assert radio.waking_ns(0, S + 1, 2, 0) == 2 * (2 * S - 1 + 1000)
    assert radio.waking_ns(0, 2 * S, 2, 0) == 2 * (S + 1000)
    assert radio.waking_ns(0, 3 * S, 1, 0) == 1000
    assert radio.waking_ns(0, 11 * S, 1, 0) == 5000


def test_a_finite_pattern_is_averaged_over_the_trials_packets() -> None:
    once = {"kind": "loss-pattern", "pattern": "1000", "repeat": False}
    assert loss(once) == pytest.approx((0.25, 0.25))
    assert loss(once, 20) == pytest.approx((0.05, 0.05))
    assert loss(once, 2) == pytest.approx((0.5, 0.5))
    assert loss({**once, "repeat": True}, 20) == pytest.approx((0.25, 0.25))


def test_equivalent_loss_models_cost_the_same() -> None:
    chain = {"kind": "markov", "transitions": [[0.9, 0.1], [0.4, 0.6]], "loss": [0, 1]}
    states = {"kind": "four-state", "p13": 0.1, "p31": 0.4, "p32": 0, "p23": 0, "p14": 0}
    assert loss(chain) == pytest.approx((0.2, 0.6), rel=1e-3)
    assert loss(states) == pytest.approx(loss(chain), rel=1e-3)


def test_after_a_loss_in_a_burst_the_retransmission_is_lost_more_often() -> None:
    bursts = {"kind": "gilbert-elliott", "p": 0.1, "r": 0.4, "bad_loss": 1, "good_loss": 0}
    first, again = loss(bursts)
    assert first < again == pytest.approx(0.6)


def test_a_corrupt_packet_counts_as_lost() -> None:
    assert loss({"kind": "corrupt", "probability": 0.1}) == pytest.approx((0.1, 0.1))
    both = up({"kind": "corrupt", "probability": 0.1}, {"kind": "loss", "probability": 0.1})
    assert both.loss == pytest.approx(0.19)


def test_a_stage_that_loses_nothing_has_no_loss() -> None:
    assert loss({"kind": "delay", "delay_ns": 1}) == (0, 0)
    assert loss({"kind": "markov", "transitions": [[1]], "loss": [0]}) == (0, 0)
    assert loss(SCHEDULE) == pytest.approx((0.1, 0.1))
