"""Means over trials: what their intervals cover, and what they do at the ends."""

from __future__ import annotations

import numpy as np
import pytest

from tests.repeats import repeats
from wirelab.stats.estimate import bootstrap, studentized
from wirelab.stats.estimate.sample import Floats
from wirelab.stats.estimate.studentized import Tail, means

HORIZON_S = 10.0
REPEATS = repeats(300)


def _losses(trials: int, rng: np.random.Generator) -> list[Floats]:
    """A quarter of the packets is lost, and the timer doubles."""
    timeouts, failing = np.zeros((trials, 10)), np.ones((trials, 10), dtype=bool)
    for _ in range(7):
        failing &= rng.random(failing.shape) < 0.25
        timeouts += failing
    return list(np.minimum(0.04 * np.exp(rng.normal(0, 0.1, timeouts.shape)) + 0.2 * (2**timeouts - 1), HORIZON_S))


@pytest.mark.simulation
def test_a_mean_with_losses_is_covered_where_percentiles_of_resampled_means_are_too_low() -> None:
    rng = np.random.default_rng(5)
    truth = float(np.concatenate(_losses(100_000, rng)).mean())
    covered = {"bootstrap-t": 0, "percentile": 0}
    for _ in range(REPEATS):
        trials = _losses(10, rng)
        for name, draws in (
            ("bootstrap-t", means(trials, 500, rng, HORIZON_S)),
            ("percentile", bootstrap.moments(trials, 500, rng)[0]),
        ):
            low, high = draws.interval(0.95)
            assert low is not None and high is not None
            covered[name] += low <= truth <= high
    assert covered["bootstrap-t"] / REPEATS > 0.93 - 2 * (0.93 * 0.07 / REPEATS) ** 0.5
    assert covered["percentile"] < covered["bootstrap-t"] - 0.02 * REPEATS


def test_the_tail_is_paretos_cut_at_the_horizon() -> None:
    rng = np.random.default_rng(7)
    tail = Tail.of(np.minimum(rng.pareto(1.5, 20_000) + 1, 30.0), 30.0)
    assert tail is not None
    assert tail.exponent == pytest.approx(1.5, rel=0.1)
    drawn = np.minimum(tail.above * rng.random(400_000) ** (-1 / tail.exponent), 30.0)
    assert tail.mean == pytest.approx(drawn.mean(), rel=0.01)
    assert Tail(1.0, 1.0, 30.0).mean == pytest.approx(1 + np.log(30.0))


@pytest.mark.parametrize(
    "values", [np.full(100, 0.04), np.zeros(100), np.append(np.full(99, 0.04), 11.0), np.full(100, HORIZON_S)]
)
def test_there_is_no_tail_without_longer_values_or_with_some_above_the_horizon(values: Floats) -> None:
    assert Tail.of(values, HORIZON_S) is None


def test_a_resample_has_the_tails_mean_at_large() -> None:
    rng = np.random.default_rng(3)
    trials = _losses(12, rng)
    centre = float(np.concatenate(trials).mean())
    tail = Tail.of(np.concatenate(trials), HORIZON_S)
    assert tail is not None
    chosen = np.tile(np.arange(12), (40_000, 1))
    true, sums = tail.resampled(trials, centre, chosen, rng)
    assert sums.sum(axis=1).mean() / 120 == pytest.approx(true, abs=0.02 * centre)


def test_no_end_is_above_the_horizon_and_none_of_times_below_0() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        trials = [np.minimum(rng.pareto(0.7, 4) * 0.1, HORIZON_S) for _ in range(6)]
        low, high = means(trials, 400, rng, HORIZON_S).interval(0.95)
        assert low is not None and high is not None
        assert 0 <= low <= high <= HORIZON_S


def test_a_mean_that_rests_on_one_trial_has_no_upper_end() -> None:
    trials = [np.full(10, float(trial == 0)) for trial in range(10)]
    draws = means(trials, 2000, np.random.default_rng(1))
    low, high = draws.interval(0.95)
    assert draws.point == pytest.approx(0.1)
    assert low is not None and 0 < low < 0.1
    assert high is None


def test_equal_trials_have_an_interval_of_no_width() -> None:
    draws = means([np.array([0.1, 0.3])] * 6, 200, np.random.default_rng(0), HORIZON_S)
    assert draws.interval(0.95) == (draws.point, draws.point) == (pytest.approx(0.2), pytest.approx(0.2))


def test_means_of_either_sign_have_an_interval() -> None:
    rng = np.random.default_rng(4)
    low, high = means([rng.normal(0, 1, 20) for _ in range(12)], 1000, rng).interval(0.95)
    assert low is not None and high is not None
    assert -1 < low < 0 < high < 1


def test_trials_of_any_size_weigh_by_their_exchanges() -> None:
    rng = np.random.default_rng(6)
    trials = [rng.lognormal(0, 0.4, size) for size in (5, 40, 10, 60, 30, 20)]
    draws = means(trials, 1000, rng)
    low, high = draws.interval(0.95)
    assert draws.point == pytest.approx(np.concatenate(trials).mean())
    assert low is not None and high is not None and low < draws.point < high


def test_few_trials_have_the_hierarchical_bootstraps_interval() -> None:
    trials = _losses(studentized.LEAST_TRIALS - 1, np.random.default_rng(8))
    ours = means(trials, 300, np.random.default_rng(9), HORIZON_S)
    theirs, _ = bootstrap.moments(trials, 300, np.random.default_rng(9))
    assert np.array_equal(ours.values, theirs.values)


def test_a_resample_without_spread_is_as_far_off_as_any_and_not_infinitely() -> None:
    """Under the virtual clock most trials may be equal: each tenth resample or more then has no spread."""
    trials = [np.full(10, 0.4), np.full(10, 0.4005), *[np.full(10, 0.4)] * 8]
    error = 0.0005 / 10  # over ten trials, of which one differs
    low, high = means(trials, 2000, np.random.default_rng(1), HORIZON_S).interval(0.95)
    assert low is not None and high is not None
    centre = 0.40005
    assert low > centre - 51 * error
    assert centre + 2 * error < high < centre + 51 * error


@pytest.mark.filterwarnings("error")
def test_resamples_of_zeros_alone_are_without_spread() -> None:
    """Rounding errors of differences from the mean are no spread; the logarithm of 0 gave no numbers."""
    trials = [np.full(7, 0.1), np.full(7, 0.3), *[np.zeros(7)] * 4]
    draws = means(trials, 2000, np.random.default_rng(2), HORIZON_S)
    assert np.isfinite(draws.values).all()
    low, high = draws.interval(0.95)
    assert low is not None and high is not None and 0 <= low < draws.point < high
