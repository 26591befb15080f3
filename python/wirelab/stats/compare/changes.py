"""Whether a scenario changed by more than a margin between two sides of measurements.

A change is shown by an interval that lies beyond the margin, and its absence by one that lies within it. All intervals
that decide share one chance of an error (Bonferroni), so that a wrong alarm in any comparison is as rare as in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from wirelab.metrics.registry import DELAYS
from wirelab.schema.changes import Change, MeasureChange
from wirelab.schema.estimates import EXACT
from wirelab.statistic import MEAN, MEDIAN, least_values, quantile_of
from wirelab.stats.compare.scenarios import ERROR_RATE, Ratio, Side, pairs_of, ratio
from wirelab.stats.dataset import Dataset, Measured
from wirelab.stats.estimate import descriptive
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.proportion import Share, ShareDifference
from wirelab.stats.estimate.studentized import LEAST_TRIALS
from wirelab.stats.exact import marked, repeats

TAIL = "p95"
"""Compared next to the statistic that ranks, where a side has enough values."""
WIRE = ("wire-bytes", "wire-up-packets", "wire-down-packets", "round-trips")
"""Metrics of which means are compared."""
COMPLETED = "completed"
RISING_IS_WORSE = DELAYS
FALLING_IS_WORSE = frozenset({"throughput", "goodput"})
SAME_PACKETS = "the same packets at the same times"
NO_TRIAL = "no trial of one side has an exchange"


@dataclass(frozen=True)
class Measure:
    """One statistic of a scenario on both sides, and its effect at any level: new over old, or new minus old of a
    share. `known` says why the effect needs no interval; None if it does.
    """

    of: str
    metric: str | None
    unit: str
    old: Estimate
    new: Estimate
    effect: Callable[[float], Estimate]
    known: str | None = None
    trials: int = 0
    """Of the side that has fewer; 0 of a share."""

    @property
    def is_share(self) -> bool:
        """Whether its effect is a difference."""
        return self.metric is None

    def worse(self, change: Change) -> bool:
        """Whether a change is to the worse: longer, or fewer of what there should be more of."""
        if self.metric is None or self.metric in FALLING_IS_WORSE:
            return change == "smaller"
        return change == "larger" and self.metric in RISING_IS_WORSE


def measures(old: Dataset, old_key: str, new: Dataset, new_key: str, *, same: bool = False) -> list[Measure]:
    """What is compared of a scenario: the headline metric by the statistic that ranks and by its p95, packets, bytes
    and round trips by their means, and the share of exchanges that completed, if one did not. `same`: both sides have
    the same packets at the same times.
    """
    ours, theirs = (
        {one.metric.name: one for one in side.measured(key)} for side, key in ((old, old_key), (new, new_key))
    )
    experiment = new.plan.experiment
    asked = [(experiment.metric, experiment.statistic), (experiment.metric, TAIL), *((name, MEAN) for name in WIRE)]
    found: list[Measure] = []
    for name, of in dict.fromkeys(asked):
        if name in ours and name in theirs:
            sides = _OnSide(old, old_key, ours[name]), _OnSide(new, new_key, theirs[name])
            found += _measure(*sides, of, same=same)
    return [*found, *_completed(old.unanswered(old_key), new.unanswered(new_key), same=same)]


def judged(measure: Measure, margin: float, level: float, unusable: str | None = None) -> MeasureChange:
    """The change at a level. A scenario of unusable quality shows none."""
    effect = measure.effect(level)
    change, why = change_of(effect, margin, difference=measure.is_share)
    if measure.known is not None:
        effect = replace(effect, low=effect.point, high=effect.point, method=EXACT)
        change, why = change_of(effect, margin, difference=measure.is_share)[0], measure.known
        if measure.known == SAME_PACKETS:
            change = "unchanged"
    elif unusable is not None:
        change, why = "inconclusive", f"the quality is unusable: {unusable}"
    elif margin == 0 and measure.metric in WIRE and measure.trials < LEAST_TRIALS and change != "inconclusive":
        # Few whole numbers may differ by chance on each side in all of its trials, without any spread.
        change, why = "inconclusive", f"too few trials for a count without a margin: {measure.trials} of {LEAST_TRIALS}"
    return {
        "of": measure.of,
        "metric": measure.metric,
        "unit": measure.unit,
        "old": measure.old.record(),
        "new": measure.new.record(),
        "effect": effect.record(),
        "change": change,
        "worse": measure.worse(change),
        "why": why,
    }


def change_of(effect: Estimate, margin: float, *, difference: bool = False) -> tuple[Change, str | None]:
    """By the whole interval of a ratio, or of a difference of shares; and why it is inconclusive. A share that falls is
    a change by any amount that is shown: requests were lost.
    """
    least, most = (-margin, margin) if difference else (1 / (1 + margin), 1 + margin)
    low, high = effect.low, effect.high
    if difference and high is not None and high < 0:
        return "smaller", None
    if low is not None and low > most:
        return "larger", None
    if high is not None and high < least:
        return "smaller", None
    if low is None or high is None:
        return "inconclusive", effect.method
    if least <= low and high <= most:
        return "unchanged", None
    return "inconclusive", "the interval reaches over the margin"


def each_level(count: int, error_rate: float = ERROR_RATE) -> float:
    """The level of each of so many intervals, all of which hold together with `1 - error_rate` (Bonferroni)."""
    return 1 - error_rate / max(count, 1)


@dataclass(frozen=True)
class _OnSide:
    """A metric of a scenario on one side."""

    dataset: Dataset
    key: str
    one: Measured

    def drawn(self, of: str, side: str) -> Side:
        """Its bootstrap distributions. Both sides have random numbers of their own: with the same ones they would
        resample alike, and what differs by chance would cancel.
        """
        rng = self.dataset.rng(self.key, self.one.metric.name, of, side)
        statistic = of if quantile_of(of) is not None else MEDIAN
        drawn = Side.of(self.key, self.one.sample, rng, self.one.horizon_s, statistic)
        return replace(drawn, replicates=self.one.replicates)

    def estimate(self, of: str) -> Estimate:
        """What the analysis says of it."""
        sample, q = self.one.sample, quantile_of(of)
        if q is None:
            rng = self.dataset.rng(self.key, self.one.metric.name, "moments")
            found = descriptive.mean_and_sd(sample, rng, horizon_s=self.one.horizon_s)[0]
        else:
            value = descriptive.quantile(sample, q)
            assert value is not None, "there are enough values for what is compared"
            found = value
        return marked(found, self.exact)

    @cached_property
    def exact(self) -> str | None:
        """The method of what has the same values in each trial; None if they differ."""
        return repeats(self.dataset, self.dataset.plan.scenario(self.key), self.one)


def _measure(old: _OnSide, new: _OnSide, of: str, *, same: bool) -> Iterator[Measure]:
    if min(old.one.sample.n, new.one.sample.n) < least_values(quantile_of(of)):
        return
    sides = old.drawn(of, "old"), new.drawn(of, "new")
    known = "each trial has the same values" if old.exact and new.exact else None
    paired = old.dataset.plan.seed == new.dataset.plan.seed
    name = new.one.metric.name, new.one.unit
    found = measure_of(of, name, sides, paired=paired, known=SAME_PACKETS if same else known)
    yield replace(found, old=old.estimate(of), new=new.estimate(of))


def measure_of(
    of: str, metric: tuple[str, str], sides: tuple[Side, Side], *, paired: bool = False, known: str | None = None
) -> Measure:
    """A statistic of a metric, its name and unit, from the old and the new side, without the estimates of either.
    `paired`: trials of one replicate have the same random numbers.
    """
    old, new = sides
    q = quantile_of(of)
    which: Ratio = "mean" if q is None else "median" if of == MEDIAN else "percentile"
    pairs = pairs_of(new, old) if paired else None

    def effect(level: float) -> Estimate:
        return ratio(which, new, old, level, pairs)

    trials = min(len(old.sample.trials), len(new.sample.trials))
    apart = Estimate(None, None, None, LEVEL, 0, "compared alone")
    return Measure(of, *metric, apart, apart, effect, known, trials)


def _completed(old: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]], *, same: bool) -> Iterator[Measure]:
    """The share that completed; nothing if all did, on both sides, or if neither side has an exchange."""
    if bool(old) != bool(new):
        yield _without_a_side(old or new, gone=bool(old))
        return
    if not old or not any(missing for side in (old, new) for missing, _ in side):
        return
    before, after = (
        Share(tuple(size - missing for missing, size in side), tuple(size for _, size in side)) for side in (old, new)
    )
    effect = ShareDifference(after, before).estimate
    known = SAME_PACKETS if same else None
    yield Measure(COMPLETED, None, "share", before.estimate(LEVEL), after.estimate(LEVEL), effect, known)


def _without_a_side(trials: Sequence[tuple[int, int]], *, gone: bool) -> Measure:
    """The share that completed where one side has no exchange at all: none of it completed."""
    there = Share(tuple(size - missing for missing, size in trials), tuple(size for _, size in trials)).estimate(LEVEL)
    none = Estimate(0.0, 0.0, 0.0, LEVEL, 0, NO_TRIAL)
    change = (there.point or 0.0) * (-1 if gone else 1)

    def effect(level: float) -> Estimate:
        return Estimate(change, change, change, level, there.n, EXACT)

    sides = (there, none) if gone else (none, there)
    return Measure(COMPLETED, None, "share", *sides, effect, NO_TRIAL)
