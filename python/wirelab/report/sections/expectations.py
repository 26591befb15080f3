"""Bounds that the experiment expects its results to keep, and whether each scenario does."""

from __future__ import annotations

from dataclasses import replace

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.model import Group as Choices
from wirelab.report.numbers import PERCENT, UNITS, Estimate, Unit, with_unit
from wirelab.report.sections.common import SCENARIO_COLUMNS, by_choices, scenario_cells
from wirelab.schema.estimates import ExpectationRecord

COLUMNS = (
    Column("expected", numeric=False), Column("verdict", numeric=False), Column("measured [interval]"), Column("n"),
    Column("why inconclusive", numeric=False),
)  # fmt: skip
TONES = {"kept": "good", "missed": "bad", "inconclusive": "unsure"}
NOTE = (
    "A bound is kept or missed if the whole interval says so, and missed if no exchange completed. It is inconclusive "
    "if it lies inside the interval, if there are too few values, or if the quality of the scenario is unusable."
)


def section(campaign: Campaign) -> Section | None:
    """A row for each bound and scenario; None if nothing is expected."""
    records = campaign.estimates.get("expectations", [])
    if not records:
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        rows = [
            [*scenario_cells(condition, scenario), *_cells(record)]
            for condition, scenario in group.pairs
            if scenario.key in group.own
            for record in records
            if record["scenario"] == scenario.key
        ]
        return [Table("Expectations", [*SCENARIO_COLUMNS, *COLUMNS], rows, row_headers=2)] if rows else []

    return Section("expectations", "Expectations", [Prose(NOTE), *by_choices(campaign, build)])


def unit_of(record: ExpectationRecord) -> Unit:
    """What its estimate is shown in."""
    return PERCENT if record["unit"] == "share" else UNITS.get(record["unit"], Unit(record["unit"]))


def _cells(record: ExpectationRecord) -> list[Cell]:
    verdict, found, unit = record["verdict"], Estimate.of(record["estimate"]), unit_of(record)
    measured = estimate(found, unit)
    if found is not None and found.point is not None:
        measured = replace(measured, text=with_unit(found, unit))
    return [
        Cell(f"{record['subject']} {record['bound']}"),
        Cell(verdict, tone=TONES[verdict]),
        measured,
        dash("there is no estimate") if found is None else Cell(f"{found.n:,}"),
        Cell(record["why"] or ""),
    ]
