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
