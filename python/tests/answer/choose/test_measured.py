"""What was measured of a choice: the steady state of its trials, what was lost or late, and when no energy is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.answer.choose.trials import DOWN, PERSISTENT, RADIO, UP, Campaign, S, message, packets, unanswered
from wirelab.answer.choose.measured import LEAST_TRIALS, bounds_of
from wirelab.answer.choose.ranking import Parts
from wirelab.metrics.energy_names import INTERVAL, column
from wirelab.metrics.energy_settings import Equipment
from wirelab.metrics.no_day import BACK_TO_BACK, OVERLOADED
from wirelab.metrics.trial_energy import TrialEnergy
from wirelab.stats.estimate.model import LEVEL
from wirelab.stats.estimate.proportion import share

MESSAGE_J = 0.535878
"""Of a message and the time behind it, computed by hand in the guide."""


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign(tmp_path)


def typical(trial: Parts) -> float:
    return sum(part["typical"] for part in trial.values())


def test_the_first_message_is_left_out_with_the_opening_of_its_connection(campaign: Campaign) -> None:
    campaign.workload = {"connection": PERSISTENT}
    opened = message(0, request_start_ns=2 * S)
    campaign.trial([opened, message(1), message(2)], [*packets(0, 1, up=900, down=900), *packets(2, 600, 1200)])
    found = campaign.measured()
    assert found.data_bytes == {0: UP + DOWN}
    assert typical(found.energies["typical"][0]) == pytest.approx(MESSAGE_J)


def test_an_only_message_is_the_steady_state(campaign: Campaign) -> None:
    campaign.trial([message(0)], packets(0))
    found = campaign.measured()
    assert found.data_bytes == {0: UP + DOWN}
    assert typical(found.energies["typical"][0]) == pytest.approx(MESSAGE_J)


def test_a_connection_that_is_opened_again_is_counted(campaign: Campaign) -> None:
    campaign.workload = {"connection": PERSISTENT}
    again = message(2, request_start_ns=1202 * S, connection_reused=False)
    kept = [*packets(0, 600), *packets(1800)]
    campaign.trial([message(0), message(1), again, message(3)], [*kept[:4], *packets(1200, 1202), *kept[4:]])
    found = campaign.measured()
    assert found.data_bytes == {0: pytest.approx(4 * (UP + DOWN) / 3)}
    # The radio is awake for 2 s more, and sends and receives once more.
    once = 2 * (0.05 - 10e-6) + UP * 8 / 20e3 * (0.5 - 0.05)
    assert typical(found.energies["typical"][0]) == pytest.approx(MESSAGE_J + once / 3, rel=1e-6)


def test_closing_is_not_counted(campaign: Campaign) -> None:
    rows = [message(0), message(1), message(2)]
    campaign.trial(rows, packets(0, 600, 1200))
    campaign.trial(rows, [*packets(0, 600, 1200), *packets(1800, 1801)])
    found = campaign.measured()
    assert found.data_bytes == {0: UP + DOWN, 1: UP + DOWN}
    assert found.energies["typical"][0] == found.energies["typical"][1]


def test_keep_alives_are_of_the_message_before_them(campaign: Campaign) -> None:
    campaign.workload = {"connection": PERSISTENT}
    pings = packets(700, 800, 900, up=40, down=40)
    campaign.trial(
        [message(0), message(1), message(2)], [*packets(0), *packets(300), *packets(600), *pings, *packets(1200)]
    )
    # Those before the second message are of the first.
    assert campaign.measured().data_bytes == {0: (2 * (UP + DOWN) + 3 * 80) / 2}


def test_energy_is_the_sum_by_state_and_what_the_metric_says_of_the_same_messages(campaign: Campaign) -> None:
    rows = [message(nth) for nth in range(4)]
    flowed = packets(0, 600, 1200, 1800)
    campaign.trial(rows, flowed)
    [states] = campaign.measured().energies["typical"].values()
    sending_s = UP * 8 / 20e3
    assert {*states} == {"transmit", "awake", "asleep"}
    assert states["transmit"]["typical"] == pytest.approx(sending_s * 0.5)
    assert states["awake"]["typical"] == pytest.approx((10.2 - sending_s) * 0.05)
    assert states["asleep"]["typical"] == pytest.approx((600 - 10.2) * 10e-6)
    [scenario] = campaign.plan.scenarios
    messages = [*TrialEnergy(RADIO, "t0", scenario, rows, flowed, None).exchanges()][1:]
    for bound in ("low", "typical", "high"):
        expected = sum(row[column(INTERVAL, bound)] for row in messages) / len(messages)
        assert sum(part[bound] for part in states.values()) == pytest.approx(expected)


def test_each_replicate_has_its_own(campaign: Campaign) -> None:
    campaign.trial([message(0), message(1)], packets(0, 600))
    campaign.trial([message(0), message(1)], packets(0, 600, up=211))
    found = campaign.measured()
    assert (found.data_bytes, found.trials) == ({0: 147, 1: 247}, 2)
    small, large = (typical(each) for each in found.energies["typical"].values())
    # It sends for longer and waits less for the answer.
    assert large - small == pytest.approx(100 * 8 / 20e3 * (0.5 - 0.05))


def test_a_trial_without_packets_has_no_value_and_its_messages_count(campaign: Campaign) -> None:
    campaign.trial([message(0), message(1)], packets(0, 600))
    campaign.trial([unanswered(0, "failed"), unanswered(1, "failed")], [])
    found = campaign.measured()
    assert (found.trials, found.messages, found.lost) == (1, 2, 1)


def test_what_timed_out_or_failed_is_lost_and_late_and_what_is_unsupported_is_not_asked(campaign: Campaign) -> None:
    rows = [message(0), unanswered(1, "failed"), unanswered(2, "timed-out"), message(3), unanswered(4, "unsupported")]
    campaign.trial(rows, packets(0, 600, 1200, 1800))
    found = campaign.measured(deadline_s=10)
    assert (found.messages, found.lost) == (3, 2)
    assert found.lost_share.point == pytest.approx(2 / 3)
    assert found.late is not None
    assert (found.late.point, found.late.n) == (pytest.approx(2 / 3), 3)


def test_the_first_message_is_neither_late_nor_lost_nor_in_a_quantile(campaign: Campaign) -> None:
    for first in (message(0, end_to_end_delay_ns=9 * S), unanswered(0, "timed-out"), unanswered(0, "failed")):
        campaign.trial([first, *(message(nth) for nth in range(1, 41))], packets(*range(0, 24600, 600)))
    found = campaign.measured(deadline_s=1)
    assert found.late is not None and found.p50_s is not None and found.p95_s is not None
    assert (found.messages, found.lost, found.late.point, found.late.n) == (120, 0, 0, 120)
    assert (found.p50_s.point, found.p95_s.point) == (0.2, 0.2)


def test_a_message_that_came_after_the_deadline_is_late_and_not_lost(campaign: Campaign) -> None:
    campaign.trial([message(0), message(1, end_to_end_delay_ns=3 * S), message(2)], packets(0, 600, 1200))
    found = campaign.measured(deadline_s=1)
    assert found.late is not None
    assert (found.lost, found.late.point) == (0, 0.5)
    in_time = campaign.measured(deadline_s=5).late
    assert in_time is not None
    assert in_time.point == 0


def test_a_deadline_that_is_a_little_shorter_or_longer_is_known_too(campaign: Campaign) -> None:
    campaign.trial([message(0), message(1, end_to_end_delay_ns=3 * S), message(2)], packets(0, 600, 1200))
    assert campaign.measured(deadline_s=3).late_near == (0.5, 0.0)
    assert campaign.measured(deadline_s=2.8).late_near == (0.5, 0.0)
    assert campaign.measured(deadline_s=2.5).late_near == (0.5, 0.5)
    assert campaign.measured(deadline_s=120).late_near == (0.0, 0.0)
    assert campaign.measured().late_near is None


def test_a_share_of_two_trials_has_no_interval(campaign: Campaign) -> None:
    """With one degree of freedom it would reach from 0 to 95 %, although none of the messages was lost."""
    none_lost = share([0, 0], [24, 24], LEVEL)
    assert none_lost.high is not None and none_lost.high > 0.95
    for trials in (1, 2, 3):
        campaign.trial([message(0), message(1), message(2)], packets(0, 600, 1200))
        found = campaign.measured(deadline_s=10)
        for each in (found.lost_share, found.late):
            assert each is not None
            assert (each.point, each.n) == (0, 2 * trials)
            assert (each.high is None) == (trials < LEAST_TRIALS)
        assert found.lost_share.method.startswith("no interval: ") == (trials < LEAST_TRIALS)


def test_what_nothing_answers_is_lost_if_the_link_did_not_deliver_it(campaign: Campaign) -> None:
    campaign.trial([unanswered(nth, "sent") for nth in range(4)], packets(*range(0, 2400, 600)))
    campaign.trial([unanswered(nth, "sent") for nth in range(4)], packets(*range(0, 2400, 600)))
    campaign.of_trial = {0: {"arrived": 4}, 1: {"arrived": 2}}
    found = campaign.measured(deadline_s=10)
    assert (found.messages, found.lost, found.lost_share.point, found.unchecked) == (6, 2, pytest.approx(1 / 3), 0)
    assert found.p50_s is None
    campaign.of_trial = {0: {"arrived": 4}}
    unchecked = campaign.measured()
    assert (unchecked.lost, unchecked.unchecked) == (0, 3)
    campaign.of_trial = {0: {"arrived": 0}, 1: {"arrived": 4}}
    assert campaign.measured().lost == 3


def test_a_trial_that_failed_is_counted_with_its_reason(campaign: Campaign) -> None:
    campaign.trial([message(0), message(1)], packets(0, 600))
    campaign.trial([], [])
    campaign.of_trial = {1: {"status": "failed", "error": "the broker ended."}}
    found = campaign.measured()
    assert (found.messages, found.failed_trials, found.failure) == (1, 1, "the broker ended")


def test_what_failed_is_behind_every_quantile(campaign: Campaign) -> None:
    for _ in range(6):
        delays = [message(nth, end_to_end_delay_ns=(nth + 1) * S // 10) for nth in range(4)]
        campaign.trial([*delays, *(unanswered(nth, "failed") for nth in range(4, 9))], packets(*range(0, 5400, 600)))
    found = campaign.measured()
    assert found.p50_s is not None
    assert found.p50_s.point is None
    campaign.logged = [(rows[:4], flowed) for rows, flowed in campaign.logged]
    without = campaign.measured().p50_s
    assert without is not None
    assert without.point is not None
    assert without.point == pytest.approx(0.3)


def test_a_deadline_beyond_the_time_out_says_nothing(campaign: Campaign) -> None:
    campaign.trial([message(0), message(1)], packets(0, 600))
    assert campaign.measured(deadline_s=121).late is None
    assert campaign.measured(deadline_s=120).late is not None
    assert campaign.measured().late is None


def test_an_overload_has_no_energy_even_if_one_trial_alone_was_overloaded(campaign: Campaign) -> None:
    campaign.trial([message(0), message(1)], packets(0, 600))
    campaign.trial([message(0), message(1, start_ns=1201 * S)], packets(0, 1201))
    campaign.trial([message(0), message(1)], packets(0, 600))
    found = campaign.measured()
    assert found.no_energy == OVERLOADED
    assert found.energies == {}
    assert found.trials == 3


def test_messages_back_to_back_have_bytes_and_no_energy(campaign: Campaign) -> None:
    campaign.workload = {"arrival": {"process": "closed"}}
    campaign.trial([message(0), message(1)], packets(0, 600))
    found = campaign.measured()
    assert (found.no_energy, found.energies, found.data_bytes) == (BACK_TO_BACK, {}, {0: UP + DOWN})


def test_without_a_radio_there_are_bytes_alone(campaign: Campaign) -> None:
    campaign.trial([message(0), message(1)], packets(0, 600))
    found = campaign.measured(equipment=None)
    assert (found.no_energy, found.energies, found.data_bytes) == (None, {}, {0: UP + DOWN})


def test_other_settings_of_the_radio_are_applied_to_one_trial(campaign: Campaign) -> None:
    campaign.trial([message(0), message(1)], packets(0, 600))
    campaign.trial([message(0), message(1)], packets(0, 600))
    found = campaign.measured()
    longer = Equipment(RADIO.radio.with_inputs({"stays-awake": "20 s"}))
    campaign.vary_radio(found, {"typical": RADIO, "longer": longer})
    assert {name: [*each] for name, each in found.energies.items()} == {"typical": [0, 1], "longer": [0]}
    # Ten seconds more awake, for which it does not sleep.
    more = typical(found.energies["longer"][0]) - typical(found.energies["typical"][0])
    assert more == pytest.approx(10 * (0.05 - 10e-6))


def test_what_has_no_energy_has_none_with_other_settings(campaign: Campaign) -> None:
    campaign.trial([message(0), message(1, start_ns=1201 * S)], packets(0, 1201))
    found = campaign.measured()
    campaign.vary_radio(found, {"longer": RADIO})
    assert found.energies == {}


def test_bounds_are_the_mean_over_trials_with_all_constants_at_one_end() -> None:
    first: Parts = {"tail": {"low": 1, "typical": 2, "high": 4}, "transmit": {"low": 0, "typical": 1, "high": 1}}
    second: Parts = {"tail": {"low": 3, "typical": 4, "high": 6}}
    assert bounds_of([first, second]) == {"low": 2, "typical": 3.5, "high": 5.5}
