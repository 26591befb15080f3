from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirelab.stats.estimate import descriptive
from wirelab.stats.estimate.sample import Sample

VALUES = st.lists(st.floats(0.001, 100), min_size=1, max_size=30)


@settings(max_examples=60)
@given(st.lists(VALUES, min_size=1, max_size=6), st.sampled_from((*descriptive.QUANTILES, 0.5)))
def test_an_interval_encloses_its_point(trials: list[list[float]], q: float) -> None:
    sample = Sample.of(trials)
    mean, sd = descriptive.mean_and_sd(sample, np.random.default_rng(0), resamples=100)
    for estimate in (mean, sd, descriptive.quantile(sample, q)):
        if estimate is not None and estimate.point is not None and estimate.low is not None:
            assert estimate.high is None or estimate.low <= estimate.point <= estimate.high


@pytest.mark.parametrize(("q", "least"), [(0.95, 100), (0.05, 100), (0.99, 1000)])
def test_an_outer_quantile_needs_enough_values(q: float, least: int) -> None:
    assert descriptive.quantile(Sample.of([range(1, least)]), q) is None
    assert descriptive.quantile(Sample.of([range(1, least + 1)]), q) is not None


def test_quantiles_rank_timed_out_exchanges_above_all_others() -> None:
    trials = [[1.0, 2.0, 3.0]] * 4
    assert descriptive.median(Sample.of(trials)).point == 2
    assert descriptive.median(Sample.of(trials, [2, 2, 2, 2])).point == 3


def test_a_median_above_the_time_out_has_no_point_and_says_why() -> None:
    estimate = descriptive.median(Sample.of([[1.0]] * 4, [3, 3, 3, 3]))
    assert estimate.point is None
    assert "above the time-out" in estimate.method


def test_an_upper_end_above_the_time_out_is_open() -> None:
    estimate = descriptive.median(Sample.of([[1.0] * 6] * 5, [5] * 5))
    assert estimate.point == 1
    assert estimate.high is None
    assert "above the time-out" in estimate.method


def test_means_are_over_completed_exchanges_and_say_so() -> None:
    mean, _ = descriptive.mean_and_sd(Sample.of([[1.0, 3.0]] * 3, [1, 1, 1]), np.random.default_rng(0))
    assert mean.point == 2
    assert mean.n == 6
    assert "completed exchanges only" in mean.method


def test_the_interval_of_one_trial_is_marked_as_over_exchanges_only() -> None:
    mean, _ = descriptive.mean_and_sd(Sample.of([range(1, 20)]), np.random.default_rng(0))
    assert "within one trial" in mean.method


@pytest.mark.parametrize("effect", [0.0, 0.15])
def test_the_interval_of_a_median_covers_it(effect: float) -> None:
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(300):
        trials = [np.exp(rng.normal(rng.normal(0, effect), 0.5, 40)) for _ in range(12)]
        estimate = descriptive.median(Sample.of(trials))
        assert estimate.low is not None and estimate.high is not None
        covered += estimate.low <= 1 <= estimate.high
    assert covered / 300 >= 0.91


def test_no_values_give_no_estimates() -> None:
    empty = Sample.of([[], []])
    mean, sd = descriptive.mean_and_sd(empty, np.random.default_rng(0))
    assert mean.point is None
    assert sd.point is None
    assert descriptive.median(empty).point is None


def test_a_restricted_mean_counts_time_outs_at_the_horizon_and_cuts_longer_delays() -> None:
    sample = Sample.of([[1.0, 3.0], [1.0, 12.0]], [1, 0])
    mean, sd = descriptive.mean_and_sd(sample, np.random.default_rng(0), horizon_s=10)
    assert (mean.point, mean.n) == ((1 + 3 + 1 + 10 + 10) / 5, 5)
    assert mean.method == "hierarchical bootstrap; time-outs counted at 10 s"
    assert sd.n == 4
    assert descriptive.time_outs_in_mean(sample, 10) == 10 / 25


def test_the_restricted_mean_of_rare_time_outs_is_far_above_that_of_what_completed() -> None:
    """0.22 % timed out at 180 s: less than 1 % of the exchanges, and most of the mean."""
    sample = Sample.of([[0.6] * 499 for _ in range(10)], [1, 1, 1, 1, 1, 1, 1, 1, 1, 2])
    mean, _ = descriptive.mean_and_sd(sample, np.random.default_rng(0), horizon_s=180)
    assert mean.point == pytest.approx(0.6 * 4990 / 5001 + 180 * 11 / 5001)
    assert descriptive.time_outs_in_mean(sample, 180) > 0.05


def test_the_share_of_late_exchanges_counts_time_outs() -> None:
    late = descriptive.late_share(Sample.of([[0.5, 2.0], [0.5, 0.5]], [1, 0]), 10)
    assert late is not None
    assert (late.point, late.n) == (2 / 5, 5)


def test_time_outs_below_a_second_leave_the_share_of_late_exchanges_unknown() -> None:
    assert descriptive.late_share(Sample.of([[0.1, 0.2]], [1]), 0.5) is None
    assert descriptive.late_share(Sample.of([[0.1, 0.2]]), 0.5) is not None


def test_a_mean_of_hardly_anything_but_time_outs_is_not_the_horizon() -> None:
    mean, _ = descriptive.mean_and_sd(Sample.of([[0.1], []], [4, 5]), np.random.default_rng(0), horizon_s=10)
    assert (mean.point, mean.low, mean.high) == (None, None, None)
    assert mean.method == "no mean: fewer than two exchanges completed"
