"""Messages to subscribers: delivery, losses, duplicates, and stalls of a player."""

from __future__ import annotations

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, number
from wirelab.report.campaign import Campaign
from wirelab.report.missing import why_missing
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import MILLISECONDS, interval
from wirelab.report.sections.common import COMPLETED, SCENARIO_COLUMNS, by_choices, completed_cell, scenario_cells

COLUMNS = (
    Column("messages to subscribers"),
    Column("lost"),
    Column("came again"),
    Column("delivery: median [95 %]", unit="ms"),
    Column("p95", unit="ms"),
    Column("stalls"),
    Column("late by: p95", unit="ms"),
    COMPLETED,
)


def section(campaign: Campaign) -> Section | None:
    """A row for each scenario with messages; None without any."""
    if not any(scenario.messages for scenario in campaign.scenarios):
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        rows = [
            [*scenario_cells(condition, scenario), *_cells(scenario)]
            for condition, scenario in group.pairs
            if scenario.key in group.own and scenario.messages
        ]
        table = Table("Messages from publisher to subscriber", [*SCENARIO_COLUMNS, *COLUMNS], rows, row_headers=2)
        return [table] if rows else []

    note = (
        "Delivery delay is from when a message was due at the publisher's application to its arrival at the "
        "subscriber's, on one clock. Lost: never arrived; a message after the timeout counts as timed out, not "
        "as lost. A player stalls if a message is missing at its playout time; successive late messages are one stall."
    )
    return Section("messages", "Messages", [Prose(note), *by_choices(campaign, build)])


def _cells(scenario: Scenario) -> list[Cell]:
    counts = scenario.messages
    assert counts is not None, "the section has only scenarios with messages"
    return [
        number(scenario.exchanges, 0),
        _bad(counts["lost"]),
        _bad(counts["duplicate"]),
        _time(scenario, "delivery-delay", "median"),
        _time(scenario, "delivery-delay", "0.95"),
        dash("nothing is played out") if counts["stalls"] is None else _bad(counts["stalls"]),
        _time(scenario, "playout-lateness", "0.95"),
        completed_cell(scenario),
    ]


def _bad(count: int) -> Cell:
    return Cell(f"{count:,}", tone="unsure" if count else None)


def _time(scenario: Scenario, metric: str, statistic: str) -> Cell:
    estimate = scenario.estimate(metric, statistic)
    if estimate is None or estimate.point is None:
        return dash(why_missing(scenario, metric, "no estimate") if estimate is None else estimate.method)
    return Cell(interval(estimate, MILLISECONDS))
