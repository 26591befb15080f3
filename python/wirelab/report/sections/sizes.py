"""Delays of each size, if downloads of several sizes take turns: a mean over both would describe neither."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.missing import why_missing
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import MILLISECONDS, plain, share
from wirelab.report.sections.common import COMPLETED, SCENARIO_COLUMNS, by_choices, scenario_cells
from wirelab.schema.estimates import SizeOutcomes
from wirelab.units import format_size

Size = Literal["largest", "smallest"]
SIZES: tuple[Size, ...] = ("largest", "smallest")
COLUMNS = (
    Column("size", numeric=False),
    COMPLETED,
    Column("mean [interval]", unit="ms"),
    Column("median [interval]", unit="ms"),
    Column("first byte: median [interval]", unit="ms"),
)


def section(campaign: Campaign) -> Section | None:
    """A row for each scenario whose downloads have several sizes, and size; None without any."""
    if not any(_has(scenario, size) for scenario in campaign.scenarios for size in SIZES):
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        rows = [
            [*scenario_cells(condition, scenario), *_cells(scenario, size)]
            for condition, scenario in group.pairs
            if scenario.key in group.own
            for size in SIZES
            if _has(scenario, size)
        ]
        table = Table(
            "Delays of the largest and the smallest object", [*SCENARIO_COLUMNS, *COLUMNS], rows, row_headers=3
        )
        return [table] if rows else []

    note = (
        "Downloads of several sizes take turns. Delays of each size, to the last byte and to the first. Medians count "
        "a timeout above every completed value. Means count it at the timeout of the workload."
    )
    return Section("sizes", "Large and small objects", [Prose(note), *by_choices(campaign, build)])


def _has(scenario: Scenario, size: Size) -> bool:
    return scenario.downloads is not None or scenario.metric(f"end-to-end-delay-{size}") is not None


def _cells(scenario: Scenario, size: Size) -> list[Cell]:
    whole, counts = f"end-to-end-delay-{size}", None if scenario.downloads is None else scenario.downloads[size]
    completed = dash("analysed by another version")
    if counts:
        some = counts["completed"] < counts["exchanges"]
        completed = Cell(share(counts["completed"], counts["exchanges"]), tone="unsure" if some else None)
    return [
        Cell(format_size(counts["bytes"]) if counts else size),
        completed,
        _mean(scenario, whole, counts),
        _median(scenario, whole),
        _median(scenario, f"response-time-{size}"),
    ]


def _mean(scenario: Scenario, metric: str, counts: SizeOutcomes | None) -> Cell:
    cell = estimate(scenario.estimate(metric, "mean"), MILLISECONDS, "none completed")
    if counts is None or not counts["timed-out"] or not counts["completed"]:
        return cell
    return replace(cell, tone="unsure")


def _median(scenario: Scenario, metric: str) -> Cell:
    value, above_s = scenario.estimate(metric, "median"), scenario.above_s(metric, "median")
    if above_s is None:
        return estimate(value, MILLISECONDS, why_missing(scenario, metric, "none completed"))
    title = value.method if value is not None else ""
    return Cell(f"> {plain(above_s * 1e3)}", title=title, tone="unsure", spoken="above the time-out")
