from __future__ import annotations

import pytest

from wirelab.experiment.expected_link import delay_ns, loss, medium_ns, outage_ns, sending_ns, waking_ns
from wirelab.schema import (
    Corrupt,
    Delay,
    DeliveryTrace,
    DropTail,
    DutyCycle,
    FourState,
    GilbertElliott,
    Ieee802154,
    Loss,
    LossPattern,
    Markov,
    Outage,
    RadioSpec,
    Rate,
    Schedule,
    SchedulePoint,
    Serialiser,
    SleepSpec,
    Wifi,
)

S = 10**9
QUEUE = DropTail(bytes=1000)
POINTS = (
    SchedulePoint(at_ns=0, delay_ns=10, rate_bps=3000, loss=0.2),
    SchedulePoint(at_ns=S, delay_ns=20, rate_bps=1000),
)
RADIO = RadioSpec(
    sleeps=(SleepSpec(after_ns=S, cycle_ns=2 * S, wake_ns=1000), SleepSpec(after_ns=10 * S, wake_ns=5000)),
    buffer_bytes=1,
)


def test_delays_and_those_of_schedules_add_up() -> None:
    schedule = Schedule(points=POINTS, repeat_ns=2 * S, queue=QUEUE)
    assert delay_ns((Delay(delay_ns=100), schedule)) == 115


@pytest.mark.parametrize(
    ("stage", "seconds"),
    [
        (Rate(rate_bps=1000, queue=QUEUE), 8),
        (DutyCycle(rate_bps=1000, share=0.1, queue=QUEUE), 80),
        (DeliveryTrace(opportunities_ms=(500, 1000), queue=QUEUE), 1),
        (Schedule(points=POINTS, repeat_ns=2 * S, queue=QUEUE), 4),
        (Loss(probability=0.1), 0),
    ],
)
def test_sending_takes_the_stages_time(
    stage: Rate | DutyCycle | DeliveryTrace | Schedule | Loss, seconds: float
) -> None:
    assert sending_ns((stage,), 1000, 2) == pytest.approx(seconds * S)


def test_a_medium_takes_the_time_of_its_frames() -> None:
    assert medium_ns(None, 1000, 1) == 0
    assert medium_ns(Serialiser(rate_bps=8000, queue_bytes=1), 1000, 1) == S
    wifi = Wifi(
        rate_bps=8_000_000, overhead_bytes=0, preamble_ns=20_000, ack_ns=28_000, slot_ns=10_000, sifs_ns=16_000,
        difs_ns=36_000, cw_min=10, cw_max=1023, retries=7, frame_error=0.5, queue_bytes=1,
    )  # fmt: skip
    assert medium_ns(wifi, 1000, 1) == 2 * (1_000_000 + 36_000 + 50_000 + 16_000 + 28_000 + 20_000)
    air = Ieee802154(
        compressed_bytes=0, mac_bytes=27, frame_error=0, retries=3, max_backoffs=4, min_be=3, max_be=5, queue_bytes=1
    )
    assert medium_ns(air, 200, 1) > 2 * medium_ns(air, 100, 1) - 1000
    assert 4_000_000 < medium_ns(air, 100, 1) < 8_000_000


def test_an_outage_that_returns_costs_its_share() -> None:
    held = Outage(start_ns=0, duration_ns=2 * S, every_ns=10 * S, hold_bytes=1)
    dropped = held.model_copy(update={"hold_bytes": None})
    assert outage_ns((held,)) == 0.2 * S
    assert outage_ns((dropped,)) == 0.4 * S
    assert outage_ns((Outage(start_ns=0, duration_ns=S),)) == 0


def test_waking_is_paid_where_the_radio_had_time_to_fall_asleep() -> None:
    assert waking_ns(None, 100 * S, 1, 1, 1) == 0
    assert waking_ns(RADIO, 0, 1, 1, 0) == 0
    assert waking_ns(RADIO, 2 * S, 1, 1, 0) == 1000
    assert waking_ns(RADIO, 100 * S, 1, 1, 0) == 5000


def test_a_trial_begins_in_the_deepest_sleep() -> None:
    assert waking_ns(RADIO, 0, 1, 1, 1) == 5000
    assert waking_ns(RADIO, 0, 1, 1, 0.25) == 1250


def test_an_answer_to_a_sleeping_radio_waits_until_it_listens() -> None:
    assert waking_ns(RADIO, 0, S, 2, 0) == 0
    assert waking_ns(RADIO, 0, S + 1, 2, 0) == 2 * (2 * S - 1 + 1000)
    assert waking_ns(RADIO, 0, 2 * S, 2, 0) == 2 * (S + 1000)
    assert waking_ns(RADIO, 0, 3 * S, 1, 0) == 1000
    assert waking_ns(RADIO, 0, 11 * S, 1, 0) == 5000


def test_a_schedule_without_a_rate_takes_no_time_to_send() -> None:
    points = (SchedulePoint(at_ns=0, delay_ns=10), SchedulePoint(at_ns=S))
    assert sending_ns((Schedule(points=points, queue=QUEUE),), 1000, 1) == 0


def test_a_pattern_that_ends_is_one_of_so_many_packets() -> None:
    once = LossPattern(pattern="1000", repeat=False)
    assert loss(once) == (0.25, 0.25)
    assert loss(once, 20) == (0.05, 0.05)
    assert loss(once, 2) == (0.5, 0.5)


def test_kinds_of_loss_that_are_one_process_cost_the_same() -> None:
    chain = Markov(transitions=((0.9, 0.1), (0.4, 0.6)), loss=(0, 1))
    states = FourState(p13=0.1, p31=0.4, p32=0, p23=0, p14=0)
    assert loss(chain) == pytest.approx((0.2, 0.6), rel=1e-3)
    assert loss(states) == pytest.approx(loss(chain), rel=1e-3)
    assert loss(GilbertElliott(p=0.1, r=0.4, bad_loss=1, good_loss=0))[1] == pytest.approx(0.6)
    assert loss(Corrupt(probability=0.1)) == (0.1, 0.1)
    assert loss(LossPattern(pattern="0001", repeat=True)) == (0.25, 0.25)
    assert loss(Schedule(points=POINTS, repeat_ns=2 * S, queue=QUEUE)) == pytest.approx((0.1, 0.1))
    assert loss(Markov(transitions=((1,),), loss=(0,))) == (0, 0)
    assert loss(Delay(delay_ns=1)) == (0, 0)
