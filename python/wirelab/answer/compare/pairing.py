"""Which scenarios are compared: those that are alike in everything but what may differ. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.schema.plan import Plan, Scenario

NOT_COMPARED = {
    "key", "identity", "name", "levels", "points", "short_timer", "background_packets_per_s", "connections",
    "expected_exchange_ns", "expected_trial_ns", "server_starts_in_ns", "client_cpu_ns", "clock",
}  # fmt: skip
"""Names of a scenario, and what is computed of the rest. Clocks are compared before."""
PROGRAMS = "implementation"
"""What may differ if nothing is named: of the client and of the server."""
_OF_A_PROGRAM = ("implementation", "cpu", "program-settings")
_FLAT = {"protocol": "protocol.name", "link-name": "link.name"}
_TOP = {"settings": "protocol"}
MOST_LISTED = 3

Described = Mapping[str, str]
"""What a scenario is, by path: `link.uplink.0.delay-ns`."""


@dataclass(frozen=True)
class Pairing:
    """Pairs of scenarios, old and new, in the order of the new side."""

    by: str | None
    pairs: tuple[tuple[Scenario, Scenario], ...]
    only_old: tuple[Scenario, ...] = ()
    only_new: tuple[Scenario, ...] = ()
    alone: tuple[Scenario, ...] = ()
    """Of one campaign: those from which no other differs in `by` alone."""

    @property
    def differs(self) -> tuple[dict[str, str], dict[str, str]]:
        """What each side has that the other has not, if it is the same in all pairs."""
        found: dict[str, set[tuple[str | None, str | None]]] = {}
        each = [(described(old), described(new)) for old, new in self.pairs]
        for old, new in each:
            for path in differing(old, new):
                found.setdefault(path, set()).add((old.get(path), new.get(path)))
        same = {path: next(iter(values)) for path, values in found.items() if len(values) == 1}
        of_all = {path: value for path, value in same.items() if all(path in differing(*pair) for pair in each)}
        olds, news = (
            {path: text for path, value in of_all.items() if (text := value[side]) is not None} for side in (0, 1)
        )
        return olds, news


def described(scenario: Scenario) -> Described:
    """All that it is, flat."""
    whole = scenario.model_dump(mode="json", by_alias=True, exclude=NOT_COMPARED)
    return {_as_set(path): value for path, value in _flat("", whole)}


def _as_set(path: str) -> str:
    """A path as experiments write it, where they do: `server.implementation` for `implementation.server`."""
    top, _, rest = path.partition(".")
    if top in _OF_A_PROGRAM and rest:
        role, _, below = rest.partition(".")
        return ".".join(filter(None, [role, "" if top == "program-settings" else top, below]))
    return _FLAT.get(path) or (f"{_TOP[top]}.{rest}" if top in _TOP else path)


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for key, each in value.items():
                yield from _flat(f"{path}.{key}" if path else str(key), each)
        case list():
            for index, each in enumerate(value):
                yield from _flat(f"{path}.{index}", each)
        case str():
            yield path.replace("_", "-"), value
        case _:
            yield path.replace("_", "-"), json.dumps(value)


def differing(old: Described, new: Described) -> list[str]:
    """The paths in which two differ."""
    return [path for path in {**old, **new} if old.get(path) != new.get(path)]


def between(old: Plan, new: Plan, by: str | None = None) -> Pairing:
    """Scenarios of two campaigns. Without `by` they are alike, or differ in their programs alone.

    Raises `WirelabError` if no pair is alike, with what differs in that which is most alike, and for a path that no
    scenario has.
    """
    if by is not None:
        _require_path(by, [*old.scenarios, *new.scenarios])
        return _paired(old, new, by)
    alike = _matched(old.scenarios, new.scenarios, None)
    programs = _matched(old.scenarios, new.scenarios, PROGRAMS)
    # Of several programs each is compared with itself; of one on each side they are what is compared.
    return _paired(old, new, None if len(alike) >= len(programs) else PROGRAMS)


def within(plan: Plan, by: str) -> Pairing:
    """Scenarios of one campaign that differ in `by` alone, which has two values: the first is the old one.

    Raises `WirelabError` if none do, or if it has more values.
    """
    _require_path(by, plan.scenarios)
    groups: dict[str, list[Scenario]] = {}
    for scenario in plan.scenarios:
        groups.setdefault(_without(scenario, by), []).append(scenario)
    if many := next((group for group in groups.values() if len(group) > 2), None):
        names = ", ".join(f"'{each.name}'" for each in many)
        what = f"{len(many)} scenarios differ in {by} alone, and two are compared: {names}"
        raise WirelabError(what, Where("--by"), "run a campaign with two values of it, or compare two campaigns")
    pairs = [(group[0], group[1]) for group in groups.values() if len(group) == 2]
    if not pairs:
        what = f"no two scenarios of {plan.experiment.name} differ in {by} alone"
        raise WirelabError(what, Where("--by"), f"what differs: {listed(_varied(plan.scenarios))}")
    alone = tuple(group[0] for group in groups.values() if len(group) == 1)
    return Pairing(by, tuple(pairs), alone=alone)


def _paired(old: Plan, new: Plan, by: str | None) -> Pairing:
    pairs = _matched(old.scenarios, new.scenarios, by)
    if not pairs:
        raise _none_alike(old, new, by)
    known = {each.key for pair in pairs for each in pair}
    # A scenario that is on both sides as it is has one key.
    olds = tuple(each for each in old.scenarios if each.key not in known)
    news = tuple(each for each in new.scenarios if each.key not in known)
    return Pairing(by, tuple(pairs), olds, news)


def _matched(old: Iterable[Scenario], new: Iterable[Scenario], by: str | None) -> list[tuple[Scenario, Scenario]]:
    """Pairs that are alike without `by`; two that are alike on one side are no pair."""
    olds, news = ({}, {})  # type: tuple[dict[str, list[Scenario]], dict[str, list[Scenario]]]
    for side, found in ((old, olds), (new, news)):
        for scenario in side:
            found.setdefault(_without(scenario, by), []).append(scenario)
    return [
        (olds[text][0], group[0]) for text, group in news.items() if len(group) == 1 and len(olds.get(text, [])) == 1
    ]


def _without(scenario: Scenario, by: str | None) -> str:
    kept = {path: value for path, value in described(scenario).items() if by is None or not is_under(path, by)}
    return json.dumps(kept, sort_keys=True)


def is_under(path: str, by: str) -> bool:
    """Whether a path is `by` or lies below it; `implementation` is that of either end."""
    return path == by or path.startswith(f"{by}.") or (by == PROGRAMS and path.endswith(f".{PROGRAMS}"))


def _require_path(by: str, scenarios: Sequence[Scenario]) -> None:
    paths = dict.fromkeys(path for scenario in scenarios for path in described(scenario))
    if any(is_under(path, by) for path in paths):
        return
    starts = dict.fromkeys(".".join(path.split(".")[:depth]) for path in paths for depth in (1, 2, 3))
    tops = ", ".join(dict.fromkeys(path.split(".")[0] for path in paths))
    hint = did_you_mean(by, starts) or f"one of {tops}, or a path below, such as server.{PROGRAMS}"
    raise WirelabError(f"no scenario has this path ({by})", Where("--by"), hint)


def _none_alike(old: Plan, new: Plan, by: str | None) -> WirelabError:
    """With what differs in the two scenarios that differ in the fewest paths."""
    olds, news = ([(each, described(each)) for each in plan.scenarios] for plan in (old, new))
    first, second = min(
        ((one, other) for one in olds for other in news), key=lambda pair: len(differing(pair[0][1], pair[1][1]))
    )
    paths = [path for path in differing(first[1], second[1]) if by is None or not is_under(path, by)]
    if not paths:
        what = f"several scenarios are alike without {by}, so that it is not known which are compared"
        return WirelabError(what, Where("--by"), "name a path below it")
    tops = [*dict.fromkeys(path.split(".")[0] for path in paths)]
    values = [f"{path} ({first[1].get(path, 'none')}, then {second[1].get(path, 'none')})" for path in paths]
    besides = "" if by is None else f" besides {by}"
    names = f"'{first[0].name}' and '{second[0].name}'"
    what = f"no scenario is on both sides: {names} differ in {listed(values)}{besides}"
    hint = (
        f"if that is what you compare: --by {tops[0]}"
        if len(tops) == 1 and by is None
        else ("compare campaigns that differ in one thing")
    )
    return WirelabError(what, hint=hint)


def _varied(scenarios: Sequence[Scenario]) -> list[str]:
    """The paths in which not all are alike."""
    each = [described(scenario) for scenario in scenarios]
    paths = dict.fromkeys(path for one in each for path in one)
    return [path for path in paths if len({one.get(path) for one in each}) > 1]


def listed(texts: Sequence[str]) -> str:
    """`a, b, c and 4 more`."""
    more = len(texts) - MOST_LISTED
    return ", ".join(texts[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "") if texts else "nothing"
