"""Ratios by pairs of trials that share a replicate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wirelab.stats.compare.paired import METHOD_OF_MEANS, METHOD_OF_QUANTILES, Pairs, Trials, go_together
from wirelab.stats.compare.scenarios import Side, compare, pairs_of, without_disturbance
from wirelab.stats.estimate.sample import Sample
from wirelab.stats.machine.endpoint_waits import Wait

REPLICATES = tuple(range(12))


def _sides(shared: float, *, times: float = 1.0, seed: int = 3) -> tuple[Side, Side]:
    """Trials of which a part of the spread is the replicate's."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, shared, 12)
    samples = [Sample.of(factor * np.exp(rng.normal(level, 0.3, 20)) for level in common) for factor in (times, 1.0)]
    return tuple(  # type: ignore[return-value]
        replace(Side.of(key, sample, rng, 100.0), replicates=REPLICATES)
        for key, sample in zip(("a", "b"), samples, strict=True)
    )


def test_pairs_of_trials_that_go_together_make_ratios_narrower() -> None:
    a, b = _sides(0.6, times=1.4)
    found = compare("end-to-end-delay", a, b, np.random.default_rng(0))
    apart = compare("end-to-end-delay", replace(a, replicates=()), b, np.random.default_rng(0))
    for ours, unpaired, method in (
        (found.ratio_of_means, apart.ratio_of_means, METHOD_OF_MEANS),
        (found.ratio_of_medians, apart.ratio_of_medians, METHOD_OF_QUANTILES),
    ):
        assert ours.method == method
        assert ours.point == pytest.approx(unpaired.point)
        assert None not in (ours.low, ours.high, unpaired.low, unpaired.high)
        assert ours.low > 1 > unpaired.low  # type: ignore[operator]
        assert ours.high < unpaired.high  # type: ignore[operator]


def test_trials_that_do_not_go_together_are_not_paired() -> None:
    a, b = _sides(0.0)
    assert pairs_of(a, b) is None
    assert "pairs" not in compare("end-to-end-delay", a, b, np.random.default_rng(0)).ratio_of_means.method


def test_other_or_too_few_replicates_are_not_paired() -> None:
    a, b = _sides(0.6)
    assert pairs_of(a, b) is not None
    assert pairs_of(a, replace(b, replicates=(*REPLICATES[1:], 12))) is None
    assert pairs_of(a, replace(b, replicates=(*REPLICATES[1:], REPLICATES[1]))) is None
    few = [replace(each, sample=Sample.of(each.sample.trials[:4]), replicates=REPLICATES[:4]) for each in (a, b)]
    assert pairs_of(*few) is None


def test_a_trial_without_values_is_not_paired() -> None:
    sample = Sample.of([[1.0], [], [2.0]])
    assert Trials.of(sample, (0, 1, 2), None) is None
    assert Trials.of(Sample.of([[1.0], [], [2.0]], [0, 1, 0]), (0, 1, 2), 10.0) is not None


def test_ranks_go_together_only_if_that_is_unlikely_by_chance() -> None:
    assert go_together([1, 2, 3, 4, 5], [1, 2, 3, 4, 9])
    assert not go_together([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    assert not go_together([1, 2, 3, 4, 5], [5, 4, 3, 2, 1])
    assert not go_together([1, 1, 1, 1, 1], [1, 2, 3, 4, 5])


def test_an_interval_is_not_formed_of_nothing_or_of_equal_pairs() -> None:
    rng = np.random.default_rng(1)
    rising = [np.full(4, float(trial)) for trial in range(6)]
    zeros = Trials.of(Sample.of(rising), range(6), None)
    pairs = Pairs.of(zeros, zeros, rng)
    assert pairs is not None
    assert pairs.ratio_of_means(0.95) is None
    equal = Trials.of(Sample.of(trial + 1 for trial in rising), range(6), None)
    pairs = Pairs.of(equal, equal, rng)
    assert pairs is not None
    assert pairs.ratio_of_means(0.95) is None


def test_waiting_is_taken_away_from_pairs_too() -> None:
    a, b = _sides(0.6, times=1.4)
    waits = {"a": Wait("h2", 0.2, 0.0, "unusable", "waited", 0.2)}
    assert waits["a"].of("mean") == 0.2
    without = without_disturbance(a, b, waits)
    for of, statistic in (("mean", np.mean), ("median", np.median)):
        [(words, _, ratio)] = without[of]
        assert "200 ms of CPU waiting of h2" in words
        assert "pairs" in ratio.method
        over, under = (float(statistic(side.sample.values)) for side in (a, b))
        assert ratio.point == pytest.approx((over - 0.2) / under, rel=0.01)
