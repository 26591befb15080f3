"""In how many settings of the network each choice is first, and in which, in the shortest words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from wirelab.report.statement import listed
from wirelab.schema.choose import Chosen, OperatorAxis, OperatorSetting

MOST_AXES = 2
"""In a condition that is read at once: of one that is not exact, and of what decides in the first sentence."""
MOST_NAMES = 3
SAME = 1.01
"""Values that differ by less are the same in effect."""


@dataclass(frozen=True)
class Standing:
    """The choices that are first in some settings: several if they are alike, none if nothing is ranked there.

    `parts` say in which: `the NAT time-out is 30 s`, all of which must be so. There are none if no words describe them.
    They are `exact` if they are of these settings and of no other. `more` is how many of these settings they leave out;
    if they hold `only` in these, they hold in others too. `kinds` is how many of the settings differ in effect.
    """

    first: tuple[str, ...]
    count: int
    parts: tuple[str, ...]
    exact: bool
    more: int = 0
    only: bool = False
    kinds: int = 1

    @property
    def axes(self) -> int:
        """How many settings of the network are named."""
        return len(self.parts)

    @property
    def condition(self) -> str:
        """`if the NAT time-out is 30 s, and in 2 more`; empty if no words describe them."""
        if not self.parts:
            return ""
        more = f", and in {self.more} more" if self.more else ""
        return f"{self.how} {' and '.join(self.parts)}{more}"

    @property
    def how(self) -> str:
        """Before the parts."""
        return "only if" if self.only else "if"


def standings(record: Chosen) -> list[Standing]:
    """What is first under typical settings, then others by their number of settings."""
    order = [choice["name"] for choice in record["choices"]]
    groups: dict[tuple[str, ...], set[int]] = {}
    for at, setting in enumerate(record["settings"]):
        known = [name for name in order if name in setting["first"]]
        others = [name for name in setting["first"] if name not in known]
        groups.setdefault((*known, *others), set()).add(at)
    levels, of = [setting["levels"] for setting in record["settings"]], kinds(record["settings"])
    found = [
        replace(
            _standing(record["axes"], levels, members),
            first=first,
            count=len(members),
            kinds=len({of[at] for at in members}),
        )
        for first, members in groups.items()
    ]
    return [*found[:1], *sorted(found[1:], key=lambda each: -each.count)]


def kinds(settings: Sequence[OperatorSetting]) -> list[int]:
    """A number for each setting. It is the same for those that have the same first, and values within 1 %."""
    seen, found = list[OperatorSetting](), list[int]()
    for setting in settings:
        at = next((number for number, kind in enumerate(seen) if _same(kind, setting)), len(seen))
        if at == len(seen):
            seen.append(setting)
        found.append(at)
    return found


def _same(one: OperatorSetting, other: OperatorSetting) -> bool:
    pairs = [(value, other["values"][name]) for name, value in one["values"].items()]
    return one["first"] == other["first"] and all(
        a == b or (a is not None and b is not None and max(a, b) < SAME * min(a, b)) for a, b in pairs
    )


def decisive(others: Sequence[Standing]) -> Standing | None:
    """The one with the simplest condition that holds exactly; without a simple one that of most settings."""

    def place(each: Standing) -> tuple[bool, int, int]:
        simple = each.exact and 0 < each.axes <= MOST_AXES
        return not simple, each.axes if simple else 0, -each.count

    return min(others, key=place, default=None)


def named(first: Sequence[str]) -> str:
    """Those that are first, before their condition."""
    if not first:
        return "nothing is ranked"
    return first[0] if len(first) == 1 else f"{several(first)} are alike"


def short(axis: OperatorAxis) -> str:
    """Its name, without what explains it."""
    return axis["name"].partition(": ")[0]


def several(names: Sequence[str]) -> str:
    """Names, which may have commas, in one text."""
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} more"]
    return listed(names) if len(names) < 3 else f"{'; '.join(names[:-1])} and {names[-1]}"


def is_first(first: Sequence[str]) -> str:
    """`coaps, new is first`, or what else is so."""
    return f"{first[0]} is first" if len(first) == 1 else named(first)


def _standing(axes: Sequence[OperatorAxis], levels: Sequence[Sequence[str]], members: set[int]) -> Standing:
    """In which settings it is so, in words."""
    if len(members) == len(levels):
        return Standing((), 0, (), exact=True)
    seen = {
        at: _in_order(axis, {levels[member][at] for member in members})
        for at, axis in enumerate(axes)
        if {levels[member][at] for member in members} != {each[at] for each in levels}
    }
    for size in range(1, len(seen) + 1):
        for chosen in combinations(seen, size):
            box = {at: seen[at] for at in chosen}
            if _inside(levels, box) == members:
                return Standing((), 0, _words(axes, box), exact=True)
    enough = max(
        (box for box in _boxes(axes) if _inside(levels, box) and _inside(levels, box) <= members),
        key=lambda box: (len(_inside(levels, box)), -len(box)),
        default=None,
    )
    if enough is not None and 2 * len(_inside(levels, enough)) >= len(members):
        return Standing((), 0, _words(axes, enough), exact=False, more=len(members) - len(_inside(levels, enough)))
    if needed := dict(sorted(seen.items(), key=lambda each: len(each[1]))[:MOST_AXES]):
        return Standing((), 0, _words(axes, needed), exact=False, only=True)
    return Standing((), 0, (), exact=False)


def _boxes(axes: Sequence[OperatorAxis]) -> Iterator[dict[int, list[str]]]:
    """One level of one axis, or of each of two."""
    for size in range(1, MOST_AXES + 1):
        for chosen in combinations(range(len(axes)), size):
            found: list[dict[int, list[str]]] = [{}]
            for at in chosen:
                found = [{**box, at: [level]} for box in found for level in axes[at]["levels"]]
            yield from found


def _inside(levels: Sequence[Sequence[str]], box: Mapping[int, Sequence[str]]) -> set[int]:
    """The settings with one of these levels of each of these axes."""
    return {number for number, each in enumerate(levels) if all(each[at] in some for at, some in box.items())}


def _in_order(axis: OperatorAxis, some: set[str]) -> list[str]:
    return [*(level for level in axis["levels"] if level in some), *sorted(some.difference(axis["levels"]))]


def _words(axes: Sequence[OperatorAxis], box: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
    return tuple(f"{_the(short(axes[at]))} is {' or '.join(some)}" for at, some in sorted(box.items()))


def _the(name: str) -> str:
    """With its article, unless it is the name of a setting."""
    return f"the {name}" if " " in name else name
