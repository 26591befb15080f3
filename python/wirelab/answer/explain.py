"""Why one scenario takes longer than another: the difference of their means, split by phase and cause.

Each scenario runs with every set of what its link does taken away. What a cause contributes is its Shapley value over
these runs, in each phase of the exchange by itself, so that all shares sum to the difference. What is left over a link
that does nothing is the programs' own, and unexplained.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from wirelab.answer.interventions import CAUSES, CHANGES, Cause, Change, causes_of
from wirelab.answer.shares import Subset, shapley, subsets
from wirelab.errors import WirelabError
from wirelab.experiment.grid.scenario import Scenario, label
from wirelab.schema.explain import DifferenceShare, Evidence, LevelShare, Mean, WhatIf
from wirelab.schema.explain import Side as SideRecord
from wirelab.schema.link_answer import AskLink
from wirelab.schema.plan import Trial
from wirelab.stats.estimate.student import student

PHASES = {
    "phase_wait_for_start_ns": "wait for the start",
    "phase_name_lookup_ns": "name lookup",
    "phase_connect_ns": "connection set-up",
    "phase_handshake_ns": "TLS or QUIC handshake",
    "phase_wait_ns": "request and its answer",
    "phase_transfer_ns": "rest of the answer",
}
"""Columns of exchanges, in words."""
NOT_SPLIT, TIMED_OUT = "not split", "timed out"
PARTS = {**PHASES, NOT_SPLIT: "not stamped by the client", TIMED_OUT: "not completed within the time-out"}
"""All parts of an exchange, in words. Together they are the time from its intended start to its end."""
CPU = "CPU time of client and server, at most"
LEFT = "left over a link that does nothing"
MOST_CAUSES = 6
MOST_FACTORS = 4
FEW_TRIALS = 5
_NOTHING_S = 5e-8


@dataclass(frozen=True)
class OfTrial:
    """Means over the exchanges of one trial, in seconds: of each part by its name, and CPU time, which is 0 under the
    virtual clock and where it is not known.
    """

    parts: Mapping[str, float]
    cpu_s: float = 0.0

    @property
    def total_s(self) -> float:
        """From the intended start to the end."""
        return math.fsum(self.parts.values())


Trials = Mapping[int, OfTrial]
"""By replicate."""


@dataclass(frozen=True)
class Side:
    """One scenario as it is, and without each set of what its link does."""

    scenario: Scenario
    causes: tuple[Cause, ...]
    without: Mapping[Subset, Scenario]
    """By the names of the causes that are left."""
    changed: Mapping[Change, Scenario]

    @classmethod
    def of(cls, scenario: Scenario, ask: AskLink) -> Side:
        """All that has to be run of it. Raises `WirelabError` for a link that does too much."""
        causes = causes_of([scenario])
        if len(causes) > MOST_CAUSES:
            names = ", ".join(cause.name for cause in causes)
            what = f"the link of {scenario.name} has {len(causes)} causes of delay ({names})"
            raise WirelabError(what, hint=f"remove some: each doubles the runs, so {MOST_CAUSES} are the most")
        found = {}
        for kept in subsets([cause.name for cause in causes]):
            link = scenario.link
            for cause in causes:
                link = link if cause.name in kept else cause.without(link)
            found[kept] = replace(scenario, link=link, facts=(ask(link), *scenario.facts[1:]))
        changed = {change: other for change in CHANGES if (other := change.made(scenario)) is not None}
        return cls(scenario, causes, found, changed)

    def scenarios(self) -> Iterator[Scenario]:
        """As it is first. Each has a name of its own."""
        name = self.scenario.name
        for kept, scenario in sorted(self.without.items(), key=lambda each: -len(each[0])):
            gone = [cause.name for cause in self.causes if cause.name not in kept]
            yield replace(scenario, name=f"{name} without {', '.join(gone)}") if gone else scenario
        for change, scenario in self.changed.items():
            yield replace(scenario, name=f"{name} {change.name}")


@dataclass(frozen=True)
class Swapped:
    """In which factors two scenarios differ, and the scenarios with some of their levels changed to the second's."""

    levels: Mapping[str, tuple[Any, Any]]
    mixed: Mapping[Subset, Scenario]
    """By the factors that have their second level. Empty if some combination is not in the experiment."""

    @classmethod
    def of(cls, first: Scenario, second: Scenario, scenarios: Iterable[Scenario]) -> Swapped:
        """By the points of the grid that the two stand for which differ least."""
        one, other = min(product(first.points, second.points), key=lambda pair: len(_differing(*pair)))
        paths = _differing(one, other)
        levels = {path: (one.get(path), other.get(path)) for path in paths}
        if len(paths) > MOST_FACTORS:
            return cls(levels, {})
        found: dict[Subset, Scenario] = {}
        everything = list(scenarios)
        for changed in subsets(paths):
            chosen = {path: other if path in changed else one for path in {**one, **other}}
            point = {path: levels[path] for path, levels in chosen.items() if path in levels}
            mixed = next((each for each in everything if point in each.points), None)
            if mixed is None:
                return cls(levels, {})
            found[changed] = mixed
        return cls(levels, found)


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [path for path in {**one, **other} if one.get(path) != other.get(path)]


@dataclass(frozen=True)
class Measured:
    """What was measured of each scenario, by its digest."""

    trials: Mapping[str, Trials]

    def replicates(self, scenarios: Iterable[Scenario]) -> list[int]:
        """Those that every one of them has."""
        each = [set(self.trials.get(scenario.digest(), {})) for scenario in scenarios]
        return sorted(set.intersection(*each)) if each else []

    def total(self, scenario: Scenario, replicate: int) -> float:
        """Mean seconds of an exchange."""
        return self.trials[scenario.digest()][replicate].total_s

    def mean(self, scenario: Scenario, replicates: Iterable[int]) -> Mean:
        """Over some of its trials."""
        return mean([self.total(scenario, replicate) for replicate in replicates])


def with_one_seed(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The trials with the random numbers of one: links that differ by an intervention lose the same packets, as long as
    packets come in the same order.
    """
    first = min(trials, key=lambda trial: trial.trial)
    seeds = {"link_seed": first.link_seed, "endpoint_seed": first.endpoint_seed}
    return tuple(trial.model_copy(update=seeds) for trial in trials)


def counted(sides: Iterable[Side], measured: Measured) -> list[int]:
    """The replicates that count: those that every scenario has which the shares are made of."""
    return measured.replicates(scenario for side in sides for scenario in side.without.values())


def shares(
    first: Side, second: Side, measured: Measured, replicates: Sequence[int]
) -> tuple[Mean, list[DifferenceShare]]:
    """The difference of the means, and the shares that sum to it, by phase and cause."""
    both = (first, second)
    made = [[_made(side, measured, replicate) for replicate in replicates] for side in both]
    keys = dict.fromkeys(key for side in made for one in side for key in one)
    found = []
    for key in sorted(keys, key=_place):
        values = [[one.get(key, 0.0) for one in side] for side in made]
        if all(abs(value) < _NOTHING_S for side in values for value in side):
            continue
        phase, cause = key
        found.append(
            DifferenceShare(
                phase=PARTS.get(phase, ""), cause=cause, evidence=_evidence(cause), first_s=_average(values[0]),
                second_s=_average(values[1]), difference_s=mean([b - a for a, b in zip(*values, strict=True)]),
            )
        )  # fmt: skip
    totals = [[measured.total(side.scenario, replicate) for replicate in replicates] for side in both]
    return mean([b - a for a, b in zip(*totals, strict=True)]), found


def _made(side: Side, measured: Measured, replicate: int) -> dict[tuple[str, str], float]:
    """What each cause contributes in each phase of one trial; the rest of what CPU time does not explain is left."""
    names = [cause.name for cause in side.causes]
    trials = {kept: measured.trials[scenario.digest()][replicate] for kept, scenario in side.without.items()}
    found: dict[tuple[str, str], float] = {}
    for phase in PARTS:
        values = {kept: each.parts[phase] for kept, each in trials.items()}
        found |= {(phase, name): value for name, value in shapley(names, values.__getitem__).items()}
    nothing = trials[frozenset()]
    left = nothing.total_s
    cpu = min(left, nothing.cpu_s)
    return found | {("", CPU): cpu, ("", LEFT): left - cpu}


def _place(key: tuple[str, str]) -> tuple[int, int]:
    phase, cause = key
    order = [*PARTS, ""]
    return order.index(phase), [*(each.name for each in CAUSES), CPU, LEFT].index(cause)


def _evidence(cause: str) -> Evidence:
    return "unexplained" if cause == LEFT else "measured" if cause == CPU else "caused"


def of_levels(swapped: Swapped, measured: Measured) -> list[LevelShare]:
    """What each factor contributes in which the two differ."""
    if not swapped.mixed:
        return []
    paths = [*swapped.levels]

    def made(replicate: int) -> dict[str, float]:
        return shapley(paths, lambda changed: measured.total(swapped.mixed[changed], replicate))

    each = [made(replicate) for replicate in measured.replicates(swapped.mixed.values())]
    if not each:
        return []
    return [
        LevelShare(
            factor=path, first=_level(path, first), second=_level(path, second),
            difference_s=mean([one[path] for one in each]),
        )
        for path, (first, second) in swapped.levels.items()
    ]  # fmt: skip


def _level(path: str, level: object) -> str:
    """A factor that does not touch a scenario has no level there."""
    return "as the base has it" if level is None else label(path, level)


def what_ifs(side: Side, measured: Measured) -> list[WhatIf]:
    """The effect of each change of its programs, alone."""
    found = []
    for change, scenario in side.changed.items():
        both = measured.replicates([side.scenario, scenario])
        if both:
            now = [measured.total(side.scenario, replicate) for replicate in both]
            then = [measured.total(scenario, replicate) for replicate in both]
            effect = mean([b - a for a, b in zip(now, then, strict=True)])
            found.append(WhatIf(name=side.scenario.name, change=change.name, mean_s=mean(then), effect_s=effect))
    return found


def warnings(sides: Iterable[SideRecord]) -> Iterator[str]:
    """What limits the means."""
    for side in sides:
        if side["timed_out"]:
            yield (
                f"{side['name']}: {side['timed_out']:,} of {side['exchanges']:,} exchanges timed out. Each counts as "
                "its time-out, so the mean is at least so large."
            )
        if side["trials"] < FEW_TRIALS:
            yield f"{side['name']}: its intervals are of {side['trials']} trials only."


def mean(values: Sequence[float]) -> Mean:
    """With its interval over trials, by Student's t. Raises `ValueError` without any."""
    found = student(values)
    assert found.point is not None, "it has values"
    return {"point": found.point, "low": found.low, "high": found.high}


def _average(values: Sequence[float]) -> float:
    if not values:
        raise ValueError("no trial has all of the scenarios")
    return math.fsum(values) / len(values)
