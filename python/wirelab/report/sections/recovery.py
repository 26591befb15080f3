"""Outages of a link or of the server: how long it took to recover, and messages that were lost or late."""

from __future__ import annotations

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, number
from wirelab.report.campaign import Campaign
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import plain
from wirelab.report.sections.common import COMPLETED, SCENARIO_COLUMNS, by_choices, completed_cell, scenario_cells
from wirelab.schema.recovery import RecoveryRecord

COLUMNS = (
    Column("away", numeric=False),
    Column("outages"),
    Column("not met"),
    Column("not recovered"),
    Column("recovery, median", "s"),
    Column("longest recovery", "s"),
    Column("messages affected"),
    Column("lost"),
    Column("late"),
    Column("attempts a message"),
    Column("energy of an outage", "J"),
)
FORGETS = (
    "A built-in server keeps sessions, subscriptions and messages in memory, so a restart loses them: no session is "
    "resumed after it, and messages that waited for a subscriber are gone."
)


def section(campaign: Campaign) -> Section | None:
    """A row for each scenario with an outage that a message met; None without any."""
    found = [record for scenario in campaign.scenarios if (record := scenario.recovery) is not None]
    if not found:
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        rows = [
            [*scenario_cells(condition, scenario), *_cells(record), completed_cell(scenario)]
            for condition, scenario in group.pairs
            if scenario.key in group.own and (record := scenario.recovery) is not None
        ]
        table = Table(
            "Outages, and the recovery from them", [*SCENARIO_COLUMNS, *COLUMNS, COMPLETED], rows, row_headers=2
        )
        return [table] if rows else []

    note = (
        "Recovery counts from the end of an outage, or from when a restarted server was ready, to the end of the first "
        "exchange that completed after it. Without a message that waits, recovery includes the time until the next "
        "message is due. In the median, an outage without recovery is longer than every other. Affected are messages "
        "that were under way when the outage began, or due until the recovery; lost are those of them that were not "
        "completed. Late are messages that completed more than the time-out after they were due. Each message is of "
        "the first outage that it met. Outages that no message met count only as not met. The energy is that of the "
        "affected messages with the time behind them, and of the connections that they opened."
    )
    forgets = [Prose(FORGETS)] if any(record["forgets"] for record in found) else []
    return Section("recovery", "Outages and recovery", [Prose(note), *forgets, *by_choices(campaign, build)])


def recovery_line(scenario: Scenario) -> str | None:
    """The outages of a scenario in a line for the terminal; None without one."""
    record = scenario.recovery
    if record is None:
        return None
    median_s = None if record["recovery"] is None else record["recovery"]["median_s"]
    messages = f"{record['lost']} of {record['affected']} messages lost, {record['late']} late"
    missing, of = record["not_recovered"], f"of {record['outages']} outage{'s' * (record['outages'] != 1)}"
    if median_s is None:
        return f"not recovered in {missing} {of}, {messages}"
    return f"recovered after {plain(median_s)} s, {messages}" + f", {missing} {of} without recovery" * (missing > 0)


def _cells(record: RecoveryRecord) -> list[Cell]:
    times, energy, missing = record["recovery"], record["energy_j"], record["not_recovered"]
    return [
        Cell(" and ".join(record["what"])),
        number(record["outages"], 0),
        number(record["not_met"], 0),
        Cell(f"{missing:,}", tone="unsure" if missing else None),
        _time(times and times["median_s"], f"not recovered in {missing} of {record['outages']}"),
        _time(times and times["most_s"], f"not recovered in {missing} of {record['outages']}"),
        number(record["affected"], 0),
        Cell(f"{record['lost']:,}", tone="unsure" if record["lost"] else None),
        number(record["late"], 0),
        dash("not counted") if record["attempts"] is None else Cell(plain(record["attempts"])),
        dash("no radio, or an interval is not known") if energy is None else Cell(plain(energy["typical"])),
    ]


def _time(seconds: float | None, missing: str) -> Cell:
    return dash(missing) if seconds is None else Cell(plain(seconds))
