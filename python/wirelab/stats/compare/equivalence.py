"""Agreement of two samples of one delay, as equivalence: it is shown by an interval that lies within limits.

The limits are set beforehand, and no test of significance is made: two small samples differ in nothing, and two large
ones in everything (Schuirmann 1987, Wellek 2010). Delays come trial by trial, in seconds; what did not complete is
infinite, so that it is late, and the largest in every quantile. Trials with the same seed lose the same packets as long
as both sides send the same ones: they are compared as pairs. Others count as independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from wirelab.stats.estimate import bootstrap
from wirelab.stats.estimate.bootstrap import Draws, expanded_tail
from wirelab.stats.estimate.horizon import LATE_S
from wirelab.stats.estimate.model import LEVEL, Estimate, finite
from wirelab.stats.estimate.proportion import LEAST_TRIALS, share
from wirelab.stats.estimate.sample import Floats

Delays = Sequence[Floats]
"""Delays of each trial in seconds, infinite if an exchange did not complete."""

MANY = 1000
"""From so many exchanges on, each side shows more than a median."""
MEDIAN_FLOOR_S = 0.3e-3
"""Medians that differ by less agree, however short they are."""
MEDIAN_SHARE = 0.01
"""And so do those that differ by less than this share of the first."""
MEDIAN_SHARE_OF_FEW = 0.15
"""The same with fewer exchanges than `MANY` on a side."""
LATE_POINTS = 0.02
"""Largest difference of P(delay > 1 s)."""
P95_FACTOR = 1.25
"""Largest ratio of p95, either way."""
DISTANCE = 0.08
"""Largest Kolmogorov distance with tolerance."""


class Verdict(StrEnum):
    """What an interval shows."""

    AGREES = "agrees"
    """It lies within the limits."""
    DIFFERS = "differs"
    """It lies outside the limits."""
    INCONCLUSIVE = "inconclusive"
    """It reaches over a limit, or there is none."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of agreement with its 95 % interval, and the limits within which it agrees.

    `median` and its limits are in seconds, `late-share` is a fraction, `p95` a ratio and `distance` a share. Each is of
    the first side over, or minus, the second. A distance has an upper and a lower bound, at 95 % each. None where a
    number cannot be formed, or is infinite.
    """

    name: str
    point: float | None
    low: float | None
    high: float | None
    least: float
    most: float
    verdict: Verdict
    scatter: float = 0.0
    """Of a distance, the machine's own scatter in the lossless sample: it differs only if it is larger by that."""


@dataclass(frozen=True)
class Offset:
    """What computing adds to a delay in real time, as a lossless pair of samples shows it."""

    median: Draws
    """The difference of the medians, live minus virtual, in seconds, with its bootstrap over trials."""
    live: Delays
    """The live sample, whose scatter is the machine's alone."""

    @property
    def seconds(self) -> float:
        """To add to a virtual delay; 0 if it is not known."""
        return self.median.point if np.isfinite(self.median.point) else 0.0

    def scatter(self, tolerance_s: float) -> float:
        """The distance of the live sample from its own median: the share that the machine moved by more than
        `tolerance_s` to one side.
        """
        every = np.concatenate(list(self.live))
        middle = float(np.median(every))
        return float(max(np.mean(every < middle - tolerance_s), np.mean(every > middle + tolerance_s)))


def offset(live: Delays, virtual: Delays, rng: np.random.Generator) -> Offset:
    """The offset of two lossless samples, neither of which is empty."""
    with np.errstate(invalid="ignore"):
        return Offset(_median(live, rng).minus(_median(virtual, rng)), live)


def measures(  # noqa: PLR0913 (two samples, and what is known of them)
    live: Delays,
    virtual: Delays,
    taken: Offset | None,
    rng: np.random.Generator,
    *,
    reference: bool = False,
    paired: bool = False,
) -> tuple[Measure, ...]:
    """The measures of agreement of two samples, after the offset `taken` was added to the second; None is none.

    With `paired`, the trials of both are in one order, and so are their exchanges. A `reference` is the sample of which
    the offset was taken: its medians agree by construction and are left out. With fewer than `MANY` exchanges on a side
    there are only medians. Without any on a side there is nothing.
    """
    fewest = min(sum(len(trial) for trial in side) for side in (live, virtual))
    if fewest == 0:
        return ()
    found = [] if reference else [_medians(live, virtual, taken, _generators(rng, paired=paired), few=fewest < MANY)]
    if fewest >= MANY:
        moved = [trial + (0.0 if taken is None else taken.seconds) for trial in virtual]
        found.append((_late_pairs if paired else _late)(live, moved))
        found.append(_p95(live, moved, _generators(rng, paired=paired)))
        found.append(_distance(live, moved, taken, _generators(rng, paired=paired)))
    return tuple(found)


Generators = tuple[np.random.Generator, np.random.Generator]
"""One for each side."""


def _generators(rng: np.random.Generator, *, paired: bool) -> Generators:
    """Of pairs, both sides draw the same trials in each resample."""
    return (rng, deepcopy(rng)) if paired else (rng, rng)


def distance(live: Delays, virtual: Delays, tolerance_s: float) -> float:
    """The Kolmogorov distance of two samples in which a difference of `tolerance_s` in time does not count.

    It is the least e for which F(x - t) - e <= G(x) <= F(x + t) + e at each x, with distribution functions F and G and
    the tolerance t: the largest of F(x - t) - G(x) and of G(x - t) - F(x), at least 0. With t = e it would be Levy's
    distance; here t is fixed, because shares and seconds have no common unit. Without a tolerance, two samples that
    scatter less than a microsecond and are a microsecond apart would have the distance 1.
    """
    sides = _Sides.of(live, virtual, tolerance_s)
    return float(sides.distances(*(np.ones((1, len(side))) for side in (live, virtual)))[0])


def _median(trials: Delays, rng: np.random.Generator) -> Draws:
    return bootstrap.medians(trials, bootstrap.RESAMPLES, rng)


def _medians(live: Delays, virtual: Delays, taken: Offset | None, rngs: Generators, *, few: bool) -> Measure:
    ours = _median(live, rngs[0])
    with np.errstate(invalid="ignore"):
        difference = ours.minus(_median(virtual, rngs[1]))
        difference = difference if taken is None else difference.minus(taken.median)
    most = MEDIAN_SHARE_OF_FEW * ours.point if few else max(MEDIAN_SHARE * ours.point, MEDIAN_FLOOR_S)
    if not np.isfinite(most):
        return Measure("median", None, None, None, -MEDIAN_FLOOR_S, MEDIAN_FLOOR_S, Verdict.INCONCLUSIVE)
    return _measure("median", difference.point, difference.interval(LEVEL), (-most, most))


def _late(live: Delays, virtual: Delays) -> Measure:
    """The difference of two independent shares by the limits of each (Newcombe 1998, method 10), which are those of
    Korn and Graubard: an interval of 0 of 3,000 has a width.
    """
    ours, theirs = (
        share([int((trial > LATE_S).sum()) for trial in side], [len(trial) for trial in side], LEVEL)
        for side in (live, virtual)
    )
    return _late_measure(ours, theirs)


def _late_measure(first: Estimate, second: Estimate) -> Measure:
    points = [each.point or 0.0 for each in (first, second)]
    lows, highs = ([getattr(each, end) or 0.0 for each in (first, second)] for end in ("low", "high"))
    difference = points[0] - points[1]
    low = difference - float(np.hypot(points[0] - lows[0], highs[1] - points[1]))
    high = difference + float(np.hypot(highs[0] - points[0], points[1] - lows[1]))
    return _measure("late-share", difference, (low, high), (-LATE_POINTS, LATE_POINTS))


def _late_pairs(live: Delays, virtual: Delays) -> Measure:
    """The same of pairs of exchanges: the share that is late in real time alone, minus the share that is late under the
    virtual clock alone. Pairs that are late on both sides, or on none, say nothing of a difference.
    """
    late = [(one > LATE_S, other > LATE_S) for one, other in zip(live, virtual, strict=True)]
    sizes = [len(trial) for trial in live]
    ours = share([int((one & ~other).sum()) for one, other in late], sizes, LEVEL)
    theirs = share([int((other & ~one).sum()) for one, other in late], sizes, LEVEL)
    return _late_measure(ours, theirs)


def _p95(live: Delays, virtual: Delays, rngs: Generators) -> Measure:
    ours, theirs = (
        bootstrap.quantiles(side, 0.95, bootstrap.RESAMPLES, rng)
        for side, rng in zip((live, virtual), rngs, strict=True)
    )
    limits = 1 / P95_FACTOR, P95_FACTOR
    with np.errstate(invalid="ignore"):
        if np.isfinite(ours.point):
            ratio = ours.over(theirs)
            return _measure("p95", ratio.point, ratio.interval(LEVEL), limits)
        # The limits are the same for the inverse, which is finite where one side's p95 is above the time-out.
        inverse = _measure("p95", (ratio := theirs.over(ours)).point, ratio.interval(LEVEL), limits)
    low, high = (finite(1 / end) if end else None for end in (inverse.high, inverse.low))
    return Measure("p95", None, low, high, *limits, inverse.verdict)


def _distance(live: Delays, virtual: Delays, taken: Offset | None, rngs: Generators) -> Measure:
    """With bounds by resampled trials, whose tails are expanded for their number.

    A distance is never below 0, so that chance makes it larger, and resampling does so again. Each bound is the more
    cautious one: the upper is a percentile of the resamples, and the lower that percentile mirrored at the estimate.
    What the machine scatters in the lossless sample is no evidence against the other side: it differs only beyond that.
    """
    whole = np.sort(np.concatenate(list(live)))
    middle = float(whole[len(whole) // 2])
    tolerance = max(MEDIAN_SHARE * middle, MEDIAN_FLOOR_S) if np.isfinite(middle) else MEDIAN_FLOOR_S
    scatter = 0.0 if taken is None else taken.scatter(tolerance)
    sides = _Sides.of(live, virtual, tolerance)
    point = float(sides.distances(*(np.ones((1, len(side))) for side in (live, virtual)))[0])
    trials = min(len(live), len(virtual))
    if trials < LEAST_TRIALS:
        return _measure("distance", point, (None, None), (0.0, DISTANCE), scatter)
    weights = (_weights(len(side), rng) for side, rng in zip((live, virtual), rngs, strict=True))
    values = sides.distances(*weights)
    tail = expanded_tail(2 * LEVEL - 1, trials - 1)[0]
    upper = max(float(np.quantile(values, 1 - tail, method="higher")), point)
    return _measure("distance", point, (max(2 * point - upper, 0.0), upper), (0.0, DISTANCE), scatter)


def _weights(trials: int, rng: np.random.Generator) -> Floats:
    """How often each trial is in each resample."""
    return rng.multinomial(trials, np.full(trials, 1 / trials), bootstrap.RESAMPLES).astype(np.float64)


@dataclass(frozen=True)
class _Sides:
    """Of each trial the number of delays up to where either distribution function steps, the tolerance in between.

    `F(x - t) - G(x)` is largest where F steps, since G only grows from there to the next step.
    """

    first: tuple[Floats, Floats]
    """Of the first side's trials, at its own steps, and the tolerance after the steps of the second."""
    second: tuple[Floats, Floats]
    """Of the second side's trials: the tolerance after the steps of the first, and at its own."""
    sizes: tuple[Floats, Floats]

    @classmethod
    def of(cls, first: Delays, second: Delays, tolerance_s: float) -> _Sides:
        steps, others = (
            np.unique(each[np.isfinite(each)]) for each in map(np.concatenate, (list(first), list(second)))
        )
        return cls(
            (_up_to(first, steps), _up_to(first, others + tolerance_s)),
            (_up_to(second, steps + tolerance_s), _up_to(second, others)),
            (_sizes(first), _sizes(second)),
        )

    def distances(self, ours: Floats, theirs: Floats) -> Floats:
        """The distance in each resample, by the weights of its trials: rows are resamples, columns trials."""
        n, m = (weights @ sizes for weights, sizes in zip((ours, theirs), self.sizes, strict=True))
        found = np.zeros(len(ours))
        rows = max(1, bootstrap.BLOCK // max(1, self.first[0].shape[1], self.first[1].shape[1]))
        for start in range(0, len(ours), rows):
            part = slice(start, start + rows)
            for sign, first, second in zip((1, -1), self.first, self.second, strict=True):
                excess = sign * ((ours[part] @ first) / n[part, None] - (theirs[part] @ second) / m[part, None])
                found[part] = np.maximum(found[part], excess.max(axis=1, initial=0.0))
        return found


def _up_to(trials: Delays, points: Floats) -> Floats:
    return np.stack([np.searchsorted(np.sort(trial), points, side="right") for trial in trials]).astype(np.float64)


def _sizes(trials: Delays) -> Floats:
    return np.array([len(trial) for trial in trials], dtype=np.float64)


def _measure(
    name: str,
    point: float,
    interval: tuple[float | None, float | None],
    limits: tuple[float, float],
    scatter: float = 0.0,
) -> Measure:
    (low, high), (least, most) = interval, limits
    verdict = Verdict.INCONCLUSIVE
    if (low is not None and low > most + scatter) or (high is not None and high < least):
        verdict = Verdict.DIFFERS
    elif low is not None and high is not None and low >= least and high <= most:
        verdict = Verdict.AGREES
    return Measure(name, finite(point), low, high, least, most, verdict, scatter)
