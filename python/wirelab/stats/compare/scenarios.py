"""Comparisons of scenarios that differ in protocol or implementation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from wirelab.schema.estimates import Family
from wirelab.schema.plan import Scenario
from wirelab.stats.compare import shift
from wirelab.stats.dataset import points
from wirelab.stats.estimate import bootstrap
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.estimate.descriptive import method_name
from wirelab.stats.estimate.model import LEVEL, Comparison, Estimate
from wirelab.stats.estimate.sample import Sample

ERROR_RATE = 0.05


@dataclass(frozen=True)
class Side:
    """A scenario's sample with the bootstrap distributions of its mean and median, drawn once for all its
    comparisons.
    """

    key: str
    sample: Sample
    mean: Draws | None
    median: Draws | None

    @classmethod
    def of(cls, key: str, sample: Sample, rng: np.random.Generator) -> Side:
        completed, every = sample.completed(), sample.with_censored()
        if sum(len(trial) for trial in completed) < 2:
            return cls(key, sample, None, None)
        mean, _ = bootstrap.moments(completed, bootstrap.RESAMPLES, rng)
        return cls(key, sample, mean, bootstrap.medians(every, bootstrap.RESAMPLES, rng))


def compare(metric: str, a: Side, b: Side, rng: np.random.Generator, level: float = LEVEL) -> Comparison:
    """`a` over, and minus, `b`; the p value is not yet adjusted."""
    pair = shift.Pair(a.sample, b.sample)
    p = shift.permutation_p(pair, rng)
    return Comparison(
        metric, a.key, b.key,
        _ratio(a.mean, b.mean, a.sample, b.sample, level), _ratio(a.median, b.median, a.sample, b.sample, level),
        shift.hodges_lehmann(pair, level), shift.cliffs_delta(pair, level), p, p, _family(metric, 0),
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


def _ratio(a: Draws | None, b: Draws | None, left: Sample, right: Sample, level: float) -> Estimate:
    if a is None or b is None:
        return Estimate(None, None, None, level, left.n + right.n, "no ratio: fewer than two values on a side")
    fewer = min((left, right), key=lambda sample: len(sample.completed()))
    return a.over(b).estimate(level, method_name(fewer))
