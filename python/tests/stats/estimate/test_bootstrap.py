"""Bootstrap intervals: what they cover, in seeded simulations, and what they do with too little."""

from __future__ import annotations

import numpy as np
import pytest

from tests.repeats import repeats
from wirelab.stats.estimate import bootstrap
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.estimate.sample import Floats

REPEATS = repeats(400)
# Three standard errors of a share of 0.95 over so many repeats.
SLACK = 3 * (0.95 * 0.05 / REPEATS) ** 0.5


def _trials(trials: int, size: int, effect: float, rng: np.random.Generator) -> list[Floats]:
    """Lognormal exchanges whose scale differs between trials; the mean is exp(0.125) exp(effect^2 / 2)."""
    scales = np.exp(rng.normal(0, effect, trials))
    return [scale * np.exp(rng.normal(0, 0.5, size)) for scale in scales]


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("trials", "size", "effect"), [(3, 50, 0.0), (5, 20, 0.0), (5, 20, 0.1), (30, 100, 0.0), (30, 100, 0.1)]
)
def test_intervals_of_a_mean_and_of_a_ratio_keep_their_coverage(trials: int, size: int, effect: float) -> None:
    rng = np.random.default_rng(11)
    truth = np.exp(0.125 + effect**2 / 2)
    mean_covered = ratio_covered = 0
    for _ in range(REPEATS):
        a, _ = bootstrap.moments(_trials(trials, size, effect, rng), 1000, rng)
        b, _ = bootstrap.moments(_trials(trials, size, effect, rng), 1000, rng)
        low, high = a.interval(0.95)
        mean_covered += low is not None and high is not None and low <= truth <= high
        low, high = a.over(b).interval(0.95)
        ratio_covered += low is not None and high is not None and low <= 1 <= high
    assert mean_covered / REPEATS >= 0.95 - SLACK - 0.01
    assert ratio_covered / REPEATS >= 0.95 - SLACK
    assert mean_covered / REPEATS <= 0.99, "too wide: the spread within trials is counted twice"


def test_an_interval_over_trials_is_wider_than_one_that_takes_exchanges_as_independent() -> None:
    rng = np.random.default_rng(2)
    trials = _trials(20, 100, 0.2, rng)
    clustered, _ = bootstrap.moments(trials, 2000, rng)
    pooled, _ = bootstrap.moments([np.concatenate(trials)], 2000, rng)
    low, high = clustered.interval(0.95)
    first, last = pooled.interval(0.95)
    assert low is not None and high is not None and first is not None and last is not None
    assert high - low > 2 * (last - first)


def test_constant_values_have_an_interval_of_no_width() -> None:
    rng = np.random.default_rng(0)
    mean, sd = bootstrap.moments([np.full(5, 0.25)] * 3, 200, rng)
    assert (mean.point, *mean.interval(0.95)) == (0.25, 0.25, 0.25)
    assert (sd.point, *sd.interval(0.95)) == (0.0, 0.0, 0.0)


def test_a_ratio_to_a_constant_zero_has_no_interval() -> None:
    rng = np.random.default_rng(0)
    _, zero = bootstrap.moments([np.full(5, 0.25)] * 3, 200, rng)
    mean, _ = bootstrap.moments([np.arange(1.0, 6.0)] * 3, 200, rng)
    estimate = mean.over(zero).estimate(0.95)
    assert estimate.point is None
    assert estimate.low is None
    assert "no interval" in estimate.method


def test_a_tail_with_too_few_resamples_falls_back_to_the_standard_error() -> None:
    rng = np.random.default_rng(5)
    draws = Draws(10.0, rng.normal(10, 1, 200), 4.0, 100)
    low, high = draws.interval(0.9999)
    assert low is not None and high is not None
    assert low < draws.values.min()
    assert high > draws.values.max()


@pytest.mark.parametrize("trials", [2, 3, 4])
def test_with_few_trials_an_interval_of_times_stays_positive_and_keeps_its_coverage(trials: int) -> None:
    """Two-mode delays in trials that differ."""
    rng = np.random.default_rng(8)

    def delays(count: int) -> list[Floats]:
        scales = np.exp(rng.normal(0, 0.2, count))
        return [scale * np.where(rng.random(20) < 0.3, 1.04, 0.04) for scale in scales]

    every = np.concatenate(delays(20_000))
    covered, highest = {"mean": 0, "sd": 0}, {"mean": 0.0, "sd": 0.0}
    truth = {"mean": float(every.mean()), "sd": float(every.std())}
    for _ in range(200):
        for name, draws in zip(("mean", "sd"), bootstrap.moments(delays(trials), 500, rng), strict=True):
            low, high = draws.interval(0.95)
            assert low is not None and high is not None
            assert 0 <= low <= draws.point <= high
            covered[name] += low <= truth[name] <= high
            highest[name] = max(highest[name], high / truth[name])
    assert min(covered.values()) / 200 >= 0.9
    assert max(highest.values()) < 40


def test_a_standard_deviation_that_some_resamples_lack_has_no_negative_end() -> None:
    rng = np.random.default_rng(4)
    _, sd = bootstrap.moments([np.full(9, 0.04), np.full(9, 0.04), np.append(np.full(8, 0.04), 1.0)], 2000, rng)
    low, high = sd.interval(0.95)
    assert low == 0
    assert high is not None and high > sd.point


def test_the_moments_of_all_exchanges_are_the_points() -> None:
    rng = np.random.default_rng(3)
    trials = _trials(4, 7, 0.3, rng)
    mean, sd = bootstrap.moments(trials, 100, rng)
    pooled = np.concatenate(trials)
    assert mean.point == pytest.approx(pooled.mean())
    assert sd.point == pytest.approx(pooled.std(ddof=1))
    assert bootstrap.medians(trials, 50, rng).point == np.median(pooled)


def test_a_median_above_the_time_out_is_infinite_and_not_a_number_that_is_averaged() -> None:
    rng = np.random.default_rng(0)
    assert bootstrap.medians([np.array([1.0, 2.0, np.inf, np.inf])], 50, rng).point == np.inf
    assert bootstrap.medians([np.array([1.0, 2.0, np.inf])], 50, rng).point == 2.0


@pytest.mark.parametrize("q", [0.05, 0.5, 0.9, 0.95])
def test_a_quantile_of_trials_of_any_size_is_that_of_all_exchanges(q: float) -> None:
    rng = np.random.default_rng(6)
    for sizes in ([40] * 5, [10, 60, 30]):
        trials = [rng.lognormal(0, 0.6, size) for size in sizes]
        draws = bootstrap.quantiles(trials, q, 400, rng)
        assert draws.point == pytest.approx(np.quantile(np.concatenate(trials), q))
        low, high = draws.interval(0.95)
        assert low is not None and high is not None and low < draws.point < high


def test_a_mean_with_all_zero_resamples_has_an_exact_0_as_its_lower_end() -> None:
    trials = [np.array([0.0] * 9 + [1.0] * (trial == 0)) for trial in range(7)]
    mean, _ = bootstrap.moments(trials, 2000, np.random.default_rng(1))
    assert mean.interval(0.95)[0] == 0.0
    assert min(mean.values) == 0.0
