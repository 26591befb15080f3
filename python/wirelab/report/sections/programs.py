"""Protocol or program: which orders of protocols are the same for all programs, and which are not."""

from __future__ import annotations

from wirelab.report.blocks import Cell, Column, Prose, Section, Table, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.numbers import Estimate, Unit
from wirelab.report.programs import Order, Played, conditions, orders
from wirelab.report.ranking import value
from wirelab.report.sections.common import COMPLETED, completed_cell, metric_words, series_cell
from wirelab.statistic import words_of

COLUMNS = (
    Column("condition", numeric=False),
    Column("protocol", numeric=False),
    Column("program", numeric=False),
)
LAST = (
    COMPLETED,
    Column("lower than, with every program", numeric=False),
    Column("depends on the program", numeric=False),
)


def section(campaign: Campaign) -> Section | None:
    """A table of all programs; None unless every protocol of some condition was measured with two."""
    found = list(conditions(campaign))
    if not found:
        return None
    first = found[0][1][0].scenarios[0]
    unit = first.unit(campaign.metric)
    rows = [row for label, protocols in found for row in _rows(campaign, label, protocols, unit)]
    words = words_of(campaign.statistic)
    note = (
        f"A protocol is lower than another with every program if the interval of the {words} of each of its programs "
        "is below those of all programs of the other. If the order changes with the program, the difference comes from "
        "the programs, not from the protocols. Programs that were not measured may differ."
    )
    columns = (*COLUMNS, Column(f"{words} of {metric_words(campaign.metric)} [interval]", unit.symbol), *LAST)
    return Section(
        "programs", "Protocol or program", [Prose(note), Table("Protocols by program", columns, rows, row_headers=3)]
    )


def _rows(campaign: Campaign, label: str, protocols: list[Played], unit: Unit) -> list[list[Cell]]:
    sooner: dict[str, list[str]] = {each.protocol: [] for each in protocols}
    depends: dict[str, list[str]] = {each.protocol: [] for each in protocols}
    for first, second, order in orders(campaign, protocols):
        match order:
            case Order.FIRST:
                sooner[first.protocol].append(second.protocol)
            case Order.SECOND:
                sooner[second.protocol].append(first.protocol)
            case Order.PROGRAM:
                depends[first.protocol].append(second.protocol)
                depends[second.protocol].append(first.protocol)
            case Order.UNSURE:
                pass
    return [
        [
            Cell(label),
            Cell(each.protocol),
            series_cell(scenario.series, f"#{scenario.anchor}"),
            estimate(value(campaign, scenario), unit),
            completed_cell(scenario),
            Cell(", ".join(sooner[each.protocol]) or "–"),
            Cell(", ".join(depends[each.protocol]) or "–"),
        ]
        for each in protocols
        for scenario in sorted(each.scenarios, key=lambda scenario: _point(value(campaign, scenario)))
    ]


def _point(value: Estimate | None) -> float:
    return value.point if value is not None and value.point is not None else float("inf")
