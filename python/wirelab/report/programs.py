"""Protocol or program: is the order of two protocols the same with every program?

The interval of each program's median, or of the percentile that ranks, decides. Two programs cannot stand for all
possible ones, so a common order is not a proof; an order that differs between programs does not belong to the
protocols.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, product

from wirelab.report.campaign import Campaign
from wirelab.report.model import Condition, Scenario
from wirelab.report.numbers import Estimate
from wirelab.report.protocols import is_reference
from wirelab.report.ranking import is_encrypted, value


class Order(Enum):
    """The order of two protocols in one condition."""

    FIRST = "the first with every program"
    SECOND = "the second with every program"
    PROGRAM = "one or the other, depending on the program"
    UNSURE = "no significant difference"


@dataclass(frozen=True)
class Played:
    """A protocol in one condition, with every program that was measured."""

    protocol: str
    scenarios: tuple[Scenario, ...]


def played(condition: Condition) -> list[Played]:
    """The application protocols of a condition; none unless each was measured with at least two programs."""
    found: dict[str, list[Scenario]] = {}
    for scenario in condition.scenarios:
        if not is_reference(scenario.series.protocol):
            found.setdefault(scenario.series.protocol, []).append(scenario)
    if not found or min(map(len, found.values())) < 2:
        return []
    return [Played(protocol, tuple(scenarios)) for protocol, scenarios in found.items()]


def orders(campaign: Campaign, protocols: list[Played]) -> Iterator[tuple[Played, Played, Order]]:
    """The order of every two protocols by the statistic that ranks; encrypted and unencrypted ones are ranked apart."""
    for first, second in combinations(protocols, 2):
        if is_encrypted(campaign, first.protocol) != is_encrypted(campaign, second.protocol):
            continue
        yield first, second, _order(_values(campaign, first), _values(campaign, second))


def conditions(campaign: Campaign) -> Iterator[tuple[str, list[Played]]]:
    """The conditions in which every protocol was measured with at least two programs, with their labels."""
    for group in campaign.groups:
        for condition in group.conditions:
            if protocols := played(condition):
                yield ", ".join(part for part in (group.title, condition.label) if part), protocols


def _values(campaign: Campaign, protocol: Played) -> list[Estimate | None]:
    return [value(campaign, scenario) for scenario in protocol.scenarios]


def _order(first: list[Estimate | None], second: list[Estimate | None]) -> Order:
    found = {_sooner(a, b) for a, b in product(first, second)}
    match found:
        case _ if found == {True}:
            return Order.FIRST
        case _ if found == {False}:
            return Order.SECOND
        case _ if found >= {True, False}:
            return Order.PROGRAM
        case _:
            return Order.UNSURE


def _sooner(a: Estimate | None, b: Estimate | None) -> bool | None:
    """Whether the interval of a is below that of b; None if they overlap or one is missing."""
    if a is None or b is None or a.low is None or a.high is None or b.low is None or b.high is None:
        return None
    if a.high < b.low:
        return True
    return False if b.high < a.low else None
