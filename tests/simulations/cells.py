"""One shape with one number of trials, simulated: what intervals cover, what A/A comparisons find, and their power."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from tests.simulations.shapes import SHAPES, TIME_OUT_S, Shape

from wirelab.statistic import least_values
from wirelab.stats.compare import shift
from wirelab.stats.compare.scenarios import Side
from wirelab.stats.estimate import descriptive
from wirelab.stats.estimate.bootstrap import Draws, medians, quantiles
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.sample import Sample
from wirelab.stats.estimate.studentized import means

RESAMPLES = 500
"""Fewer than a report's 2,000 make an interval's ends less exact, not less wide."""

PERMUTATIONS = 999
PART = 250
"""Repetitions of a part of a cell, which is one task; more repetitions are more of the same parts."""

EFFECT = 1.5
"""Power is that of finding delays that are so many times as long."""

P95 = 0.95


@dataclass
class Count:
    """How often an interval held the truth, of those that were given; the others are printed without one. Where only
    the upper end is not known, a report prints the interval as open, and it is counted so.
    """

    held: int = 0
    given: int = 0
    asked: int = 0

    def add(self, estimate: Estimate | None, truth: float) -> None:
        """One estimate more."""
        self.asked += 1
        if estimate is None or estimate.low is None:
            return
        self.given += 1
        self.held += estimate.low <= truth and (estimate.high is None or truth <= estimate.high)

    def __add__(self, other: Count) -> Count:
        return Count(self.held + other.held, self.given + other.given, self.asked + other.asked)

    @property
    def share(self) -> float | None:
        """Of the intervals that were given; None if nearly none was."""
        return self.held / self.given if self.given >= self.asked / 20 else None


@dataclass
class Cell:
    """The counts of a simulation: of each estimator, of A/A comparisons, and of comparisons with an effect."""

    shape: Shape
    trials: int
    coverage: dict[str, Count] = field(default_factory=dict)
    same: dict[str, Count] = field(default_factory=dict)
    longer: dict[str, Count] = field(default_factory=dict)

    def __add__(self, other: Cell) -> Cell:
        """The counts of two parts of one cell."""
        ours, theirs = ((each.coverage, each.same, each.longer) for each in (self, other))
        return Cell(self.shape, self.trials, *(_together(*both) for both in zip(ours, theirs, strict=True)))


def _together(a: dict[str, Count], b: dict[str, Count]) -> dict[str, Count]:
    return {name: a.get(name, Count()) + b.get(name, Count()) for name in {**a, **b}}


def simulate(shape: Shape, trials: int, repetitions: int, part: int = 0) -> Cell:
    """The same seed gives the same counts; every part has its own."""
    cell = Cell(shape, trials)
    rng = np.random.default_rng(zlib.crc32(f"{shape.name} {trials} {part}".encode()))
    before = side_of(shape.sample(trials, rng), rng)
    for _ in range(repetitions):
        side = side_of(shape.sample(trials, rng), rng)
        for name, estimate in _estimates(side, rng):
            cell.coverage.setdefault(name, Count()).add(estimate, shape.truth[name])
        longer = side_of(shape.sample(trials, rng, EFFECT), rng)
        for counts, other in ((cell.same, before), (cell.longer, longer)):
            for name, estimate, alike in _comparisons(side, other, rng):
                counts.setdefault(name, Count()).add(estimate, alike)
        before = side
    return cell


def every_cell(repetitions: int, trials: tuple[int, ...]) -> Iterator[tuple[Shape, int, int, int]]:
    """The arguments of every simulation, in parts, those of most trials first."""
    parts = max(1, repetitions // PART)
    for number in sorted(trials, reverse=True):
        for shape in SHAPES:
            yield from ((shape, number, min(repetitions, PART), part) for part in range(parts))


def side_of(sample: Sample, rng: np.random.Generator) -> Side:
    """A scenario as comparisons take it."""
    every = sample.with_censored()
    mean = means(sample.restricted(TIME_OUT_S), RESAMPLES, rng, TIME_OUT_S)
    percentile = quantiles(every, P95, RESAMPLES, rng) if sample.n >= least_values(P95) else None
    return Side("", sample, mean, medians(every, RESAMPLES, rng), TIME_OUT_S, percentile, "p95")


def _estimates(side: Side, rng: np.random.Generator) -> Iterator[tuple[str, Estimate | None]]:
    sample = side.sample
    yield "median", descriptive.median(sample)
    yield "25th percentile", descriptive.quantile(sample, 0.25)
    yield "75th percentile", descriptive.quantile(sample, 0.75)
    yield "95th percentile", descriptive.quantile(sample, P95)
    yield "share above 1 s", descriptive.late_share(sample, TIME_OUT_S)
    mean, sd = descriptive.mean_and_sd(sample, rng, resamples=RESAMPLES, horizon_s=TIME_OUT_S)
    yield "restricted mean", mean
    yield "standard deviation", sd


def _comparisons(a: Side, b: Side, rng: np.random.Generator) -> Iterator[tuple[str, Estimate | None, float]]:
    pair = shift.Pair(a.sample, b.sample)
    yield "ratio of medians", _ratio(a.median, b.median), 1.0
    yield "ratio of 95th percentiles", _ratio(a.percentile, b.percentile), 1.0
    yield "ratio of restricted means", _ratio(a.mean, b.mean), 1.0
    yield "shift", shift.hodges_lehmann(pair), 0.0
    yield "Cliff's delta", shift.cliffs_delta(pair), 0.0
    p = shift.permutation_p(pair, rng, PERMUTATIONS)
    yield "permutation test", Estimate(p, p, 1.0, LEVEL, a.sample.n + b.sample.n, "p value"), _rejected_below(p)


def _ratio(a: Draws | None, b: Draws | None) -> Estimate | None:
    return None if a is None or b is None else a.over(b).estimate(LEVEL)


def _rejected_below(p: float) -> float:
    """A value within the interval from p to 1 unless the test finds a difference."""
    return 1.0 if p > 1 - LEVEL else -1.0
