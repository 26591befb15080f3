from __future__ import annotations

import numpy as np
import pytest

from tests.asked import chain, facts
from wirelab.stats.link.grade import NOT_MEASURED, Counts, configured, grade, measured_loss

QUEUE = {"discipline": "drop-tail", "bytes": 1000}
DELAY = {"kind": "delay", "delay_ns": 10_000_000}
PAPER = {"kind": "gilbert-elliott", "p": 0.01, "r": 0.1, "bad_loss": 0.7, "good_loss": 0.001}
LOSS = {"kind": "loss", "probability": 0.1}
CLEAN = configured(chain(DELAY))


def test_the_papers_loss_model_gives_its_theoretical_share() -> None:
    link = configured(chain(DELAY, PAPER))
    assert link.loss == pytest.approx(0.064545, abs=1e-6)
    assert link.delay_s == 0.01


def test_losses_and_delays_of_a_chain_add_up() -> None:
    link = configured(chain(LOSS, DELAY, LOSS, DELAY, {"kind": "rate", "rate_bps": 250_000, "queue": QUEUE}))
    assert link.loss == pytest.approx(0.19)
    assert (link.delay_s, link.rate_bps) == (0.02, 250_000)


def test_the_interval_of_bursty_loss_covers_what_was_configured() -> None:
    rng = np.random.default_rng(3)
    link = configured(chain(PAPER))
    covered = narrow = 0
    for _ in range(200):
        counts = [Counts(2000, _gilbert_elliott(2000, rng), seed) for seed in range(3)]
        estimate = measured_loss(link, counts)
        assert estimate.low is not None and estimate.high is not None
        covered += estimate.low <= link.loss <= estimate.high
        independent = measured_loss(configured(chain({"kind": "loss", "probability": link.loss})), counts)
        assert independent.low is not None and independent.high is not None
        narrow += independent.low <= link.loss <= independent.high
    assert covered / 200 >= 0.91
    assert narrow / 200 < 0.75, "an interval for independent loss would have done"


def test_trials_that_share_a_seed_count_as_the_longest_of_them() -> None:
    rng = np.random.default_rng(5)
    link = configured(chain(LOSS))
    covered = naive = 0
    for _ in range(400):
        draws = rng.random(500) < 0.1
        lost = [int(draws[:n].sum()) for n in (500, 400, 450)]
        counts = [Counts(n, k, 7) for n, k in zip((500, 400, 450), lost, strict=True)]
        apart = [Counts(trial.reached, trial.lost, seed) for seed, trial in enumerate(counts)]
        for trials, count in ((counts, "covered"), (apart, "naive")):
            estimate = measured_loss(link, trials)
            assert estimate.low is not None and estimate.high is not None
            inside = estimate.low <= link.loss <= estimate.high
            covered, naive = covered + (inside and count == "covered"), naive + (inside and count == "naive")
    assert covered / 400 >= 0.93
    assert naive / 400 < 0.85, "an interval that forgets the seed would have done"


def test_a_loss_pattern_is_judged_by_the_packets_that_reached_it() -> None:
    link = configured(chain({"kind": "loss-pattern", "pattern": "0" * 900 + "1" * 100, "repeat": True}))
    assert link.loss == pytest.approx(0.1)
    short = [Counts(950, 50, seed) for seed in range(20)]
    assert link.over(short).loss == pytest.approx(50 / 950)
    assert grade(link, short, 10e-6, 0.02, [])[0] == "good"
    once = configured(chain({"kind": "loss-pattern", "pattern": "0101", "repeat": False}))
    assert once.over([Counts(1000, 2, 0)]).loss == pytest.approx(0.002)
    assert grade(once, [Counts(1000, 50, 0)], 10e-6, 0.02, [])[0] == "unusable"


def test_time_indexed_loss_has_no_expected_share_per_packet() -> None:
    points = [{"at_ns": 0, "loss": 0.5}, {"at_ns": 10}]
    link = configured(chain({"kind": "schedule", "queue": QUEUE, "points": points}, LOSS))
    assert link.record() == {"delay_s": 0.0, "loss": None, "rate_bps": None}
    flag, why = grade(link, [Counts(1000, 400, 0)], 10e-6, 0.02, [])
    assert flag == "good"
    assert "depends on when" in why
    assert measured_loss(link, [Counts(1000, 400, 0)]).point == 0.4


def test_packets_that_may_have_reached_the_loss_widen_its_interval_downwards() -> None:
    link = configured(chain(LOSS))
    sure, unsure = (measured_loss(link, [Counts(1000, 100, 0, more)]) for more in (0, 200))
    assert sure.low is not None and unsure.low is not None
    assert (unsure.point, unsure.high) == (sure.point, sure.high)
    assert unsure.low < sure.low


def test_the_lowest_of_several_rates_is_reported() -> None:
    medium = {"kind": "serialiser", "rate_bps": 300, "queue_bytes": 1000}
    assert (
        configured(
            chain(
                {"kind": "rate", "rate_bps": 500, "queue": QUEUE},
                {"kind": "duty-cycle", "rate_bps": 1000, "share": 0.1, "queue": QUEUE},
            )
        ).rate_bps
        == 100
    )
    rate = chain({"kind": "rate", "rate_bps": 500, "queue": QUEUE})
    assert configured(rate, facts({"medium": medium}).shared).rate_bps == 300


def test_a_link_within_tolerance_is_good() -> None:
    assert grade(CLEAN, [Counts(1000, 0, 0)], 30e-6, 0.02, [])[0] == "good"


@pytest.mark.parametrize(("p99", "flag"), [(150e-6, "good"), (500e-6, "limited"), (3e-3, "unusable")])
def test_the_timing_error_is_compared_with_the_round_trip(p99: float, flag: str) -> None:
    assert grade(CLEAN, [Counts(1000, 0, 0)], p99, 0.02, [])[0] == flag


def test_a_tiny_timing_error_does_not_lower_a_link_without_delay() -> None:
    assert grade(configured(chain()), [Counts(1000, 0, 0)], 40e-6, 0.0, [])[0] == "good"


def test_a_broken_trial_makes_a_link_unusable_with_the_reason() -> None:
    flag, why = grade(CLEAN, [Counts(1000, 0, 0)], 10e-6, 0.02, [("unusable", "3 packets were dropped by the kernel")])
    assert flag == "unusable"
    assert "kernel" in why


def test_loss_that_was_not_configured_is_unusable() -> None:
    flag, why = grade(CLEAN, [Counts(100_000, 40, 0)], 10e-6, 0.02, [])
    assert flag == "unusable"
    assert "0.0400%" in why


def test_a_small_deviation_of_the_loss_is_limited() -> None:
    assert grade(configured(chain(LOSS)), [Counts(1_000_000, 103_000, 0)], 10e-6, 0.02, [])[0] == "limited"
    assert grade(configured(chain(LOSS)), [Counts(1_000_000, 130_000, 0)], 10e-6, 0.02, [])[0] == "unusable"


def test_an_unrecorded_timing_error_is_not_good() -> None:
    assert grade(CLEAN, [Counts(1000, 0, 0)], None, 0.02, [])[0] == "limited"


def _gilbert_elliott(packets: int, rng: np.random.Generator) -> int:
    bad = rng.random() < 0.01 / 0.11
    moves, fates = rng.random(packets), rng.random(packets)
    lost = 0
    for move, fate in zip(moves, fates, strict=True):
        lost += fate < (0.7 if bad else 0.001)
        bad = move >= 0.1 if bad else move < 0.01
    return lost


def test_a_direction_without_packets_is_not_measured_and_not_unusable() -> None:
    assert grade(CLEAN, [Counts(0, 0, 0)] * 3, None, 0.02, []) == (NOT_MEASURED, "no packet passed this way")
    assert grade(CLEAN, [], None, 0.02, []) == (NOT_MEASURED, "no trial counts")
    assert grade(CLEAN, [Counts(0, 0, 0)], None, 0.02, [("unusable", "the clock stepped")])[0] == "unusable"


def test_if_every_packet_is_lost_on_purpose_no_timing_error_is_missing() -> None:
    assert grade(configured(chain({"kind": "loss", "probability": 1.0})), [Counts(900, 900, 0)], None, 0.02, []) == (
        "good", "delay and loss are as configured",
    )  # fmt: skip


def test_a_schedule_is_averaged_over_the_duration_of_the_trials() -> None:
    points = [{"at_ns": 0, "delay_ns": 10_000_000, "rate_bps": 1000}, {"at_ns": 10**9, "delay_ns": 40_000_000}]
    schedule = {"kind": "schedule", "queue": QUEUE, "points": points, "repeat_ns": 4 * 10**9}
    assert configured(chain(schedule)).delay_s == pytest.approx(0.0325)
    assert configured(chain(schedule), spans_ns=[10**9] * 3).delay_s == pytest.approx(0.01)
    assert configured(chain(schedule), spans_ns=[2 * 10**9]).delay_s == pytest.approx(0.025)
    assert configured(chain(schedule), spans_ns=[5 * 10**9]).delay_s == pytest.approx((4 * 0.0325 + 0.01) / 5)
    assert configured(chain(schedule)).rate_bps is None
    assert configured(chain(schedule), spans_ns=[10**9]).rate_bps == 1000
    once = {**schedule, "repeat_ns": None}
    assert configured(chain(once)).delay_s == pytest.approx(0.04)
    assert configured(chain(once), spans_ns=[2 * 10**9]).delay_s == pytest.approx(0.025)
