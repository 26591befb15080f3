"""Exact probabilities of long delays, next to the sample of the same campaign."""

from __future__ import annotations

from wirelab.report.blocks import Block, Cell, Column, Figure, Grid, Prose, Section, Table, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.figures.enumerated import Tail, exceedance
from wirelab.report.model import Condition
from wirelab.report.model import Group as Choices
from wirelab.report.numbers import PERCENT, Estimate
from wirelab.report.sections.common import COMPLETED, SCENARIO_COLUMNS, by_choices, completed_cell, scenario_cells
from wirelab.schema.estimates import EnumeratedRecord
from wirelab.units import format_duration

NOTE = (
    "Lines: every pattern of lost packets was run, or counted once as short and once as long; the probability lies "
    "between the two. Points: the exchanges of this campaign, of which one that did not complete took longer than any. "
    "A delay counts from the start to the end of an exchange. The enumeration is of one exchange of one client under "
    "the virtual clock. It holds the seed of the programs' random choices and the phase of timers fixed. The sample "
    "varies them, and may have other clients and exchanges next to it."
)

LINE = "Lines: exact probabilities over every pattern of lost packets. Points: the exchanges of this campaign."


def section(campaign: Campaign) -> Section | None:
    """A picture for each condition whose losses were enumerated; None without any."""
    if all(scenario.enumerated is None for scenario in campaign.scenarios):
        return None

    def build(group: Choices, prefix: str) -> list[Block]:
        return [
            block for number, condition in enumerate(group.conditions) for block in _blocks(condition, prefix, number)
        ]

    title = "Exact probabilities of long delays, next to the sample"
    return Section("enumerated", title, [Prose(NOTE), *by_choices(campaign, build)], LINE)


def _blocks(condition: Condition, prefix: str, number: int) -> list[Block]:
    found = [(each, record) for each in condition.scenarios if (record := each.enumerated) is not None]
    if not found:
        return []
    what = f"Probability of a longer delay, {condition.label}"
    tails = [
        Tail(each.series, [x * 1e3 for x in record["delays_s"]], record["low"], record["high"], record["sampled"])
        for each, record in found
        if record["sampled"]
    ]
    rows = [
        [*scenario_cells(condition, each), *cells, completed_cell(each)]
        for each, record in found
        for cells in _shares(record)
    ]
    columns = [
        *SCENARIO_COLUMNS, Column("longer than"), Column("exact"), Column("sample", "%"), COMPLETED,
    ]  # fmt: skip
    table = Table(what, columns, rows, row_headers=2)
    if not tails:
        return [table]
    return [Grid(condition.label, [Figure("", what, "", exceedance(f"{prefix}-exact{number}", what, tails), [table])])]


def _shares(record: EnumeratedRecord) -> list[list[Cell]]:
    return [
        [
            Cell(format_duration(round(each["delay_s"] * 1e9))),
            Cell(_between(each["low"], each["high"])),
            estimate(Estimate.of(each["sampled"]), PERCENT),
        ]
        for each in record["shares"]
    ]


def _between(low: float, high: float) -> str:
    return f"{low:.2%}" if high - low < 5e-5 else f"{low:.2%} to {high:.2%}"
