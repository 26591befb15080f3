"""Comparisons of scenarios that differ in protocol or implementation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from wirelab.schema.estimates import Family
from wirelab.schema.plan import Scenario
from wirelab.statistic import MEDIAN, least_values, quantile_of
from wirelab.stats.compare import shift
from wirelab.stats.compare.paired import Pairs, Trials
from wirelab.stats.dataset import points
from wirelab.stats.estimate import bootstrap, studentized
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.estimate.descriptive import bootstrap_name, mean_name
from wirelab.stats.estimate.horizon import counted_at
from wirelab.stats.estimate.model import LEVEL, Comparison, Estimate
from wirelab.stats.estimate.sample import Sample
from wirelab.stats.link.grade import DISTURBED, GRADES
from wirelab.stats.machine.endpoint_waits import Wait
from wirelab.units import format_duration

ERROR_RATE = 0.05

Ratio = Literal["mean", "median", "percentile"]
RATIOS: tuple[Ratio, ...] = ("mean", "median", "percentile")
"""The statistics whose ratios are compared; `percentile` is the one that ranks, if it is not the median."""


@dataclass(frozen=True)
class Side:
    """A scenario's sample with the bootstrap distributions of its mean, its median and the percentile that ranks,
    drawn once for all its comparisons.
    """

    key: str
    sample: Sample
    mean: Draws | None
    median: Draws | None
    horizon_s: float | None = None
    percentile: Draws | None = None
    statistic: str = MEDIAN
    """What ranks: the median, the mean, or the percentile."""
    calm: Side | None = None
    """The same without the exchanges that the emulator disturbed; None if it disturbed none."""
    replicates: tuple[int, ...] = ()
    """Of the sample's trials; empty if they are not known."""

    @classmethod
    def of(
        cls,
        key: str,
        sample: Sample,
        rng: np.random.Generator,
        horizon_s: float | None = None,
        statistic: str = MEDIAN,
    ) -> Side:
        """Time-outs count at the horizon in the mean, and above everything in the median and in the percentile that
        ranks, which needs enough values. Replicates are not known.
        """
        completed, every = sample.completed(), sample.with_censored()
        if sum(len(trial) for trial in completed) < 2:
            return cls(key, sample, None, None, horizon_s, statistic=statistic)
        counted = completed if horizon_s is None else sample.restricted(horizon_s)
        mean = studentized.means(counted, bootstrap.RESAMPLES, rng, horizon_s)
        median, percentile = bootstrap.medians(every, bootstrap.RESAMPLES, rng), None
        q = quantile_of(statistic)
        if q not in {None, 0.5} and sample.n >= least_values(q):
            percentile = bootstrap.quantiles(every, q, bootstrap.RESAMPLES, rng)
        return cls(key, sample, mean, median, horizon_s, percentile, statistic)

    def with_calm(self, undisturbed: Sample, rng: np.random.Generator) -> Side:
        """The same, with what is known without the exchanges that the emulator disturbed. A few of them do not take
        the percentile away, which has enough values with them.
        """
        calm = Side.of(self.key, undisturbed, rng, self.horizon_s, self.statistic)
        calm = replace(calm, replicates=self.replicates)
        if self.percentile is not None and calm.percentile is None and calm.median is not None:
            q, every = quantile_of(self.statistic), undisturbed.with_censored()
            percentile = None if q is None else bootstrap.quantiles(every, q, bootstrap.RESAMPLES, rng)
            calm = replace(calm, percentile=percentile)
        return replace(self, calm=calm)

    @cached_property
    def trials(self) -> Trials | None:
        """For pairs; None if they are not known."""
        return Trials.of(self.sample, self.replicates, self.horizon_s)

    def draws(self, of: Ratio) -> Draws | None:
        """The bootstrap distribution of a statistic."""
        return {"mean": self.mean, "median": self.median, "percentile": self.percentile}[of]


def compare(metric: str, a: Side, b: Side, rng: np.random.Generator, level: float = LEVEL) -> Comparison:
    """`a` over, and minus, `b`; the p value is not yet adjusted."""
    pair, pairs = shift.Pair(a.sample, b.sample), pairs_of(a, b)
    p = shift.permutation_p(pair, rng)
    return Comparison(
        metric, a.key, b.key,
        ratio("mean", a, b, level, pairs), ratio("median", a, b, level, pairs),
        shift.hodges_lehmann(pair, level), shift.cliffs_delta(pair, level), p, p, _family(metric, 0),
        None if quantile_of(a.statistic) in {None, 0.5} else ratio("percentile", a, b, level, pairs),
    )  # fmt: skip


def adjusted(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons of one metric as a family: the false discovery rate is controlled, since they explore."""
    from scipy.stats import false_discovery_control

    if not comparisons:
        return []
    family = _family(comparisons[0].metric, len(comparisons))
    values = false_discovery_control([comparison.p for comparison in comparisons], method="bh").tolist()
    return [replace(c, p_adjusted=p, family=family) for c, p in zip(comparisons, values, strict=True)]


def _family(metric: str, size: int) -> Family:
    return {
        "name": f"all comparisons of {metric}",
        "size": size,
        "method": "Benjamini-Hochberg",
        "error_rate": ERROR_RATE,
    }


def pairs(scenarios: Sequence[Scenario]) -> Iterator[tuple[str, str]]:
    """Keys of scenarios that differ in the protocol alone or in the implementation alone, in plan order.

    A protocol that one pair of programs plays in the whole campaign, such as a user's own, is also compared with those
    that this pair never plays. Both differ there, and who prints it must say so.
    """
    played: dict[str, set[str]] = {}
    for scenario in scenarios:
        played.setdefault(scenario.protocol, set()).add(_programs(scenario))
    shared = [_conditions(scenario) for scenario in scenarios]
    for (a, first), (b, second) in combinations(zip(scenarios, shared, strict=True), 2):
        if not first.alike.isdisjoint(second.alike):
            yield a.key, b.key
            continue
        ours, theirs = played[a.protocol], played[b.protocol]
        if ours.isdisjoint(theirs) and 1 in {len(ours), len(theirs)} and not first.apart.isdisjoint(second.apart):
            yield a.key, b.key


def is_implementation(path: str) -> bool:
    """Whether a factor says which program plays a role."""
    return "implementation" in path.split(".")


class _Conditions(NamedTuple):
    """The levels that a scenario shares with those of its comparisons, at each of its points."""

    alike: set[str]
    """All but the protocol, and all but the implementation."""
    apart: set[str]
    """All but both."""


def _conditions(scenario: Scenario) -> _Conditions:
    fixed = [scenario.link.to_json(), scenario.workload.to_json(), scenario.congestion_control]
    found = _Conditions(set(), set())
    for point in points(scenario):
        without_protocol = {path: level for path, level in point.items() if path != "protocol"}
        found.alike.add(_text("protocol", _programs(scenario), fixed, without_protocol))
        without_programs = {path: level for path, level in point.items() if not is_implementation(path)}
        found.alike.add(_text("implementation", fixed, without_programs))
        found.apart.add(_text(fixed, {path: level for path, level in without_programs.items() if path != "protocol"}))
    return found


def _programs(scenario: Scenario) -> str:
    return _text(scenario.implementation.to_json())


def _text(*parts: object) -> str:
    return json.dumps(parts, sort_keys=True)


class Without(NamedTuple):
    """A ratio of delays without something that does not belong to it."""

    words: str
    """What was taken away."""
    causes: tuple[str, ...]
    """What is to blame for it."""
    ratio: Estimate


def without_disturbance(a: Side, b: Side, waits: Mapping[str, Wait], level: float = LEVEL) -> dict[str, list[Without]]:
    """The ratios of means, of medians and of percentiles of delays without the CPU waiting of one side, if it waited
    too long, and without the exchanges that the emulator disturbed.
    """
    found: dict[str, list[Without]] = {}
    pairs = pairs_of(a, b)
    for statistic in RATIOS:
        ours, theirs = a.draws(statistic), b.draws(statistic)
        if ours is None or theirs is None:
            continue
        for side in (a, b):
            wait = waits.get(side.key)
            seconds = wait.of(statistic) if wait is not None and wait.flag != GRADES[0] else None
            if wait is None or seconds is None:
                continue
            shorter = _paired(statistic, a, level, pairs, (seconds, 0.0) if side is a else (0.0, seconds))
            if shorter is None:
                drawn = ours.less(seconds).over(theirs) if side is a else ours.over(theirs.less(seconds))
                shorter = drawn.estimate(level)
            words = f"{format_duration(round(seconds * 1e9))} of CPU waiting of {wait.name}"
            found.setdefault(statistic, []).append(Without(words, ("the machine",), shorter))
        if a.calm is not None or b.calm is not None:
            words = disturbed_words([(side.sample.n, side.calm.sample.n) for side in (a, b) if side.calm is not None])
            calm = ratio(statistic, a.calm or a, b.calm or b, level, pairs_of(a.calm or a, b.calm or b))
            found.setdefault(statistic, []).append(Without(words, ("the link", DISTURBED), calm))
    return found


def disturbed_words(sizes: Iterable[tuple[int, int]]) -> str:
    """The exchanges that are not among the calm ones: each size is of all and of those."""
    every, calm = zip(*sizes, strict=True)
    total = sum(every)
    return f"{total - sum(calm)} of {total} exchanges during which the link was late"


def pairs_of(a: Side, b: Side, resamples: int = bootstrap.RESAMPLES) -> Pairs | None:
    """The pairs of trials if they go together; the same whenever they are asked for."""
    return Pairs.of(a.trials, b.trials, np.random.default_rng(len(a.replicates)), resamples)


def _paired(
    of: Ratio, side: Side, level: float, pairs: Pairs | None, less: tuple[float, float] = (0.0, 0.0)
) -> Estimate | None:
    if pairs is None:
        return None
    if of == "mean":
        return pairs.ratio_of_means(level, less)
    q = quantile_of(side.statistic) if of == "percentile" else 0.5
    return None if q is None else pairs.ratio_of_quantiles(q, level, less)


def ratio(of: Ratio, left: Side, right: Side, level: float, pairs: Pairs | None) -> Estimate:
    """Left over right, by pairs of trials if there are any that go together."""
    a, b = left.draws(of), right.draws(of)
    samples = (left.sample, right.sample)
    if a is None or b is None:
        n = sum(sample.n for sample in samples)
        few = "too few" if of == "percentile" else "fewer than two"
        return Estimate(None, None, None, level, n, f"no ratio: {few} values on a side")
    also = _counted(left, right) if of == "mean" else ""
    if (paired := _paired(of, left, level, pairs)) is not None:
        return replace(paired, method="; ".join(filter(None, [paired.method, also])))
    fewer = min(samples, key=lambda sample: len(sample.completed()))
    name = mean_name(fewer) if of == "mean" else bootstrap_name(fewer)
    return a.over(b).estimate(level, "; ".join(filter(None, [name, also])))


def _counted(*sides: Side) -> str:
    """How time-outs count in means of these sides; empty if none timed out."""
    horizons = dict.fromkeys(side.horizon_s for side in sides if sum(side.sample.censored))
    words = [counted_at(each) if each is not None else "completed exchanges only" for each in horizons]
    return ", ".join(words) or "completed exchanges only" * any(side.sample.unknown for side in sides)
