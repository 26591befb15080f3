"""Resource use of endpoints: CPU time, memory, context switches, for client and server."""

from __future__ import annotations

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.model import Condition, Scenario
from wirelab.report.model import Group as Choices
from wirelab.report.numbers import COUNT, MILLISECONDS, PERCENT, Unit
from wirelab.report.sections.common import COMPLETED, SCENARIO_COLUMNS, by_choices, completed_cell, scenario_cells

MEGABYTES = Unit("MB", 1e-6)
MILLIONS = Unit("million", 1e-6)
ROLES = ("client", "server", "proxy")
COLUMNS = {
    "cpu-user": (Column("user: mean [interval]", "ms"), MILLISECONDS),
    "cpu-system": (Column("system", "ms"), MILLISECONDS),
    "cpu-idle": (Column("of both idle cost", "ms"), MILLISECONDS),
    "cpu-work": (Column("of both for exchanges", "ms"), MILLISECONDS),
    "utilisation": (Column("utilisation", "% of a CPU"), PERCENT),
    "peak-memory": (Column("peak memory", "MB"), MEGABYTES),
    "proportional-memory": (Column("proportional memory", "MB"), MEGABYTES),
    "voluntary-switches": (Column("voluntary switches"), COUNT),
    "involuntary-switches": (Column("involuntary switches"), COUNT),
    "instructions": (Column("instructions", "million"), MILLIONS),
}
WHY = {
    "cpu-idle": "it does not report when it is ready",
    "cpu-work": "it does not report when it is ready",
    "utilisation": "it does not report when it is ready",
    "proportional-memory": "its trials were too short for a sample, or it must not be inspected",
    "instructions": "this machine does not count them",
}


def section(campaign: Campaign) -> Section | None:
    """A row for each endpoint of each scenario; None if nothing was counted."""
    if not any(scenario.metric(f"{role}-cpu") for scenario in campaign.scenarios for role in ROLES):
        return None
    note = (
        "Means over trials of the kernel's counts for each endpoint and its child processes, start and end included. "
        "Idle cost is the CPU time used until it was ready, before the first exchange. Utilisation is the CPU time "
        "beyond that, divided by the time from the first exchange's start to the last one's end. Peak memory is that "
        "of the largest process; proportional memory that of all processes, in samples that take at most 1 % of a "
        "CPU. CPU times are for this machine; only ratios of protocols may carry over to others."
    )
    return Section("resources", "Resource use of endpoints", [Prose(note), *by_choices(campaign, _tables)])


def _tables(group: Choices, _prefix: str) -> list[Block]:
    rows = [
        _row(condition, scenario, role)
        for condition, scenario in group.pairs
        for role in ROLES
        if scenario.metric(f"{role}-cpu")
    ]
    columns = [
        *SCENARIO_COLUMNS,
        Column("endpoint", numeric=False),
        *(column for column, _ in COLUMNS.values()),
        COMPLETED,
    ]
    caption = "CPU time, memory and context switches of one trial"
    return [Table(caption, columns, rows, row_headers=2)] if rows else []


def _row(condition: Condition, scenario: Scenario, role: str) -> list[Cell]:
    return [
        *scenario_cells(condition, scenario), Cell(role),
        *(_cell(scenario, f"{role}-{name}", name, unit) for name, (_, unit) in COLUMNS.items()),
        completed_cell(scenario),
    ]  # fmt: skip


def _cell(scenario: Scenario, metric: str, name: str, unit: Unit) -> Cell:
    found = scenario.estimate(metric, "mean")
    return dash(WHY.get(name, "not counted")) if found is None else estimate(found, unit)
