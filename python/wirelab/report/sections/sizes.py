"""Delays of each size, where downloads of several sizes take turns: a mean over both tells of neither."""

from __future__ import annotations

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, number
from wirelab.report.campaign import Campaign
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import MILLISECONDS, interval
from wirelab.report.sections.common import SCENARIO_COLUMNS, by_choices, scenario_cells

SIZES = ("largest", "smallest")
COLUMNS = tuple(
    column
    for size in SIZES
    for column in (
        Column(f"{size}: mean [95 %]", unit="ms"),
        Column("median [95 %]", unit="ms"),
        Column("first byte: median [95 %]", unit="ms"),
        Column("values"),
    )
)


def section(campaign: Campaign) -> Section | None:
    """A row for each scenario whose downloads have several sizes; None without any."""
    if not any(_has_sizes(scenario) for scenario in campaign.scenarios):
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        rows = [
            [*scenario_cells(condition, scenario), *(cell for size in SIZES for cell in _cells(scenario, size))]
            for condition in group.conditions
            for scenario in condition.scenarios
            if scenario.key in group.own and _has_sizes(scenario)
        ]
        table = Table(
            "Delays of the largest and the smallest object", [*SCENARIO_COLUMNS, *COLUMNS], rows, row_headers=2
        )
        return [table] if rows else []

    note = (
        "Downloads of several sizes take turns. Each size by itself, to the last byte and to the first; means are over "
        "what completed, medians and values count what timed out as above the time-out."
    )
    return Section("sizes", "Large and small objects", [Prose(note), *by_choices(campaign, build)])


def _has_sizes(scenario: Scenario) -> bool:
    return any(scenario.metric(f"end-to-end-delay-{size}") for size in SIZES)


def _cells(scenario: Scenario, size: str) -> list[Cell]:
    whole, first = f"end-to-end-delay-{size}", f"response-time-{size}"
    return [
        _time(scenario, whole, "mean"),
        _time(scenario, whole, "median"),
        _time(scenario, first, "median"),
        number(scenario.metric(whole).get("n"), 0, "no value"),
    ]


def _time(scenario: Scenario, metric: str, statistic: str) -> Cell:
    estimate = scenario.estimate(metric, statistic)
    if estimate is None or estimate.point is None:
        return dash("no estimate" if estimate is None else estimate.method)
    return Cell(interval(estimate, MILLISECONDS))
