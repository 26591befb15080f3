"""Protocol or program: what is alike whoever plays a stack, and what is not."""

from __future__ import annotations

from wirelab.report.blocks import Cell, Column, Prose, Section, Table, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.numbers import Estimate, Unit
from wirelab.report.programs import Order, Played, conditions, orders
from wirelab.report.sections.common import metric_words, series_cell

COLUMNS = (
    Column("condition", numeric=False),
    Column("stack", numeric=False),
    Column("program", numeric=False),
)
LAST = (Column("sooner than, by every program", numeric=False), Column("depends on the program", numeric=False))


def section(campaign: Campaign) -> Section | None:
    """A table of all programs; None unless every protocol of some condition was played by two."""
    found = list(conditions(campaign))
    if not found:
        return None
    first = found[0][1][0].scenarios[0]
    unit = first.unit(campaign.metric)
    rows = [row for label, stacks in found for row in _rows(campaign.metric, label, stacks, unit)]
    note = (
        "A stack is sooner than another by every program if the interval of the median of each of its programs lies "
        "below those of all of the other's. Where one program is sooner and another later, the difference is of the "
        "programs, not of the protocols. Neither says anything of programs that were not measured."
    )
    columns = (*COLUMNS, Column(f"median of {metric_words(campaign.metric)} [interval]", unit.symbol), *LAST)
    return Section(
        "programs", "Protocol or program", [Prose(note), Table("Stacks by program", columns, rows, row_headers=3)]
    )


def _rows(metric: str, label: str, stacks: list[Played], unit: Unit) -> list[list[Cell]]:
    sooner: dict[str, list[str]] = {each.stack: [] for each in stacks}
    depends: dict[str, list[str]] = {each.stack: [] for each in stacks}
    for first, second, order in orders(metric, stacks):
        match order:
            case Order.FIRST:
                sooner[first.stack].append(second.stack)
            case Order.SECOND:
                sooner[second.stack].append(first.stack)
            case Order.PROGRAM:
                depends[first.stack].append(second.stack)
                depends[second.stack].append(first.stack)
            case Order.UNSURE:
                pass
    return [
        [
            Cell(label),
            Cell(each.stack),
            series_cell(scenario.series, f"#{scenario.anchor}"),
            estimate(scenario.estimate(metric, "median"), unit),
            Cell(", ".join(sooner[each.stack]) or "–"),
            Cell(", ".join(depends[each.stack]) or "–"),
        ]
        for each in stacks
        for scenario in sorted(each.scenarios, key=lambda scenario: _point(scenario.estimate(metric, "median")))
    ]


def _point(value: Estimate | None) -> float:
    return value.point if value is not None and value.point is not None else float("inf")
