"""How many comparisons found a change, and whether that is too many or too few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirelab.stats.estimate.model import LEVEL
from wirelab.stats.estimate.proportion import clopper_pearson

MOST_FALSE = 0.06
"""Share of runs with equal sides in which a change is found."""
FOUND = ("slower", "changed")


@dataclass(frozen=True)
class Alarm:
    """A comparison of two sides that are `equal`, or of which the new one takes `longer`."""

    kind: str
    verdict: str

    @property
    def found(self) -> bool:
        """Whether it found a change."""
        return self.verdict in FOUND


def rate(alarms: Sequence[Alarm]) -> str:
    """`4 of 200 found a change, 2.0 % [0.8, 5.0]`."""
    found, runs = sum(each.found for each in alarms), len(alarms)
    if not runs:
        return "no run"
    low, high = clopper_pearson(found, runs, LEVEL)
    return f"{found} of {runs} found a change, {100 * found / runs:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def faults(alarms: Sequence[Alarm]) -> list[str]:
    """False alarms beyond the limit by their whole interval, and longer sides of which one was not found slower."""
    equal = [each for each in alarms if each.kind == "equal"]
    wrong = []
    if equal and clopper_pearson(sum(each.found for each in equal), len(equal), LEVEL)[0] > MOST_FALSE:
        wrong.append(f"more than {MOST_FALSE:.0%} of equal sides differ: {rate(equal)}")
    longer = [each for each in alarms if each.kind == "longer"]
    missed = [each for each in longer if each.verdict != "slower"]
    if missed:
        wrong.append(f"{len(missed)} of {len(longer)} sides that take longer were not found slower")
    return wrong
