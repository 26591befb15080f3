"""Resamples that are not made have the distribution of those that are."""

from __future__ import annotations

import numpy as np
import pytest

from wirelab.stats.compare.shift import difference
from wirelab.stats.estimate import bootstrap, large, studentized
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.estimate.sample import Floats

RESAMPLES = 2000


def made(trials: int, size: int, spread: float, seed: int = 1) -> list[Floats]:
    rng = np.random.default_rng(seed)
    return [rng.lognormal(rng.normal(0, spread), 0.5, size) for _ in range(trials)]


def both(monkeypatch: pytest.MonkeyPatch, drawn: object) -> tuple[Draws, Draws]:
    """As resamples are made, and as they are not; `drawn` takes a generator."""
    assert callable(drawn)
    monkeypatch.setattr(large, "MANY", 10**12)
    exact = drawn(np.random.default_rng(5))
    monkeypatch.setattr(large, "MANY", 1)
    return exact, drawn(np.random.default_rng(5))


def test_only_large_samples_are_taken_so() -> None:
    assert not large.is_large(made(5, 1000, 0.1))
    assert large.is_large([np.zeros(large.LEAST), np.zeros(large.MANY)])
    assert not large.is_large([np.zeros(large.LEAST - 1), np.zeros(large.MANY)])


@pytest.mark.parametrize("q", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("spread", [0.0, 0.05], ids=["alike", "trials differ"])
def test_quantiles_have_the_same_distribution(monkeypatch: pytest.MonkeyPatch, q: float, spread: float) -> None:
    trials = made(8, 2000, spread)
    exact, read = both(monkeypatch, lambda rng: bootstrap.quantiles(trials, q, RESAMPLES, rng))
    deviation = float(exact.values.std())
    assert read.point == exact.point
    assert read.df == exact.df
    # The mean of as many resamples is off by a 45th of a deviation, and deviations by 2 %.
    assert float(read.values.mean()) == pytest.approx(float(exact.values.mean()), abs=0.1 * deviation)
    assert float(read.values.std()) == pytest.approx(deviation, rel=0.1)
    for level in (0.8, 0.95):
        for ours, theirs in zip(read.interval(level), exact.interval(level), strict=True):
            assert ours == pytest.approx(theirs, abs=0.3 * deviation)


def _unlike(sizes: list[int], first: float) -> list[Floats]:
    """The first trial is many times as slow as the others."""
    rng = np.random.default_rng(1)
    return [rng.lognormal(0 if index else first, 0.2, size) for index, size in enumerate(sizes)]


@pytest.mark.parametrize("q", [0.5, 0.9, 0.99])
@pytest.mark.parametrize(
    "trials",
    [_unlike([10_000] * 10, 2.3), _unlike([100_000, *[1_000] * 9], 2.0), _unlike([100_000, *[1_000] * 9], -2.0)],
    ids=["one is slow", "a slow one is long", "a fast one is long"],
)
def test_a_resample_without_a_trial_that_is_unlike_the_others_is_read_right(
    monkeypatch: pytest.MonkeyPatch, trials: list[Floats], q: float
) -> None:
    exact, read = both(monkeypatch, lambda rng: bootstrap.quantiles(trials, q, RESAMPLES, rng))
    for ours, theirs in zip(read.interval(0.95), exact.interval(0.95), strict=True):
        assert ours == pytest.approx(theirs, rel=0.02)


@pytest.mark.parametrize("spread", [0.0, 0.05], ids=["alike", "trials differ"])
def test_means_and_deviations_have_the_same_distribution(monkeypatch: pytest.MonkeyPatch, spread: float) -> None:
    trials = made(4, 2000, spread)
    for which in (0, 1):
        exact, read = both(monkeypatch, lambda rng, which=which: bootstrap.moments(trials, RESAMPLES, rng)[which])
        assert read.point == exact.point
        assert float(read.values.mean()) == pytest.approx(float(exact.values.mean()), rel=0.01)
        assert float(read.values.std()) == pytest.approx(float(exact.values.std()), rel=0.25)


def test_tails_up_to_the_horizon_have_the_same_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = made(8, 2000, 0.05)
    exact, read = both(monkeypatch, lambda rng: studentized.means(trials, RESAMPLES, rng, horizon_s=20.0))
    assert read.point == exact.point
    assert float(read.values.std()) == pytest.approx(float(exact.values.std()), rel=0.1)
    for ours, theirs in zip(read.interval(0.95), exact.interval(0.95), strict=True):
        assert ours == pytest.approx(theirs, rel=0.01)


@pytest.mark.parametrize("exponent", [0.7, 1.0, 1.5, 2.0, 3.0])
def test_the_variance_of_a_tail_is_that_of_its_draws(exponent: float) -> None:
    tail = studentized.Tail(1.0, exponent, 20.0)
    drawn = np.minimum((1 - np.random.default_rng(2).random(400_000)) ** (-1 / exponent), 20.0)
    assert tail.mean == pytest.approx(float(drawn.mean()), rel=0.01)
    assert tail.variance == pytest.approx(float(drawn.var()), rel=0.03)


def test_thinned_values_have_the_same_shift() -> None:
    rng = np.random.default_rng(3)
    a, b = (np.sort(rng.lognormal(shift, 0.5, large.MANY)) for shift in (0.1, 0.0))
    total = large.POINTS**2
    thin = difference(large.thinned(a), large.thinned(b), total // 2)
    assert thin == pytest.approx(difference(a, b, len(a) * len(b) // 2), abs=1e-3 * thin)
    assert len(large.thinned(a)) == large.POINTS
    assert len(large.thinned(a[:1000])) == 1000


def test_values_that_are_all_the_same_stay_so(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = [np.full(2000, 0.25) for _ in range(5)]
    _, read = both(monkeypatch, lambda rng: bootstrap.quantiles(trials, 0.5, RESAMPLES, rng))
    assert {*read.values.tolist()} == {0.25}


def test_what_timed_out_is_above_every_value(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = [np.append(trial, np.full(500, np.inf)) for trial in made(5, 1500, 0.0)]
    _, read = both(monkeypatch, lambda rng: bootstrap.quantiles(trials, 0.95, 200, rng))
    assert np.isinf(read.values).all()
    assert np.isinf(read.point)
