"""Messages to subscribers: delivery, losses, duplicates, and stalls of a player."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from wirelab.metrics.energy_names import INTERVAL
from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, number
from wirelab.report.campaign import Campaign
from wirelab.report.missing import why_missing
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import MILLIJOULES, MILLISECONDS, interval
from wirelab.report.sections.common import COMPLETED, SCENARIO_COLUMNS, by_choices, completed_cell, scenario_cells
from wirelab.report.workload_words import wait_words

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


ENERGY_NOTE = (
    " The energy of a message is all that the subscriber's radio takes from when it is due to when the next one is, "
    "whatever its outcome."
)


class _Extra(NamedTuple):
    """A column that is there if some scenario has something for it."""

    column: Column
    cell: Callable[[Scenario], Cell | None]
    absent: str


def _waits_by(scenario: Scenario) -> Cell | None:
    wait = getattr(scenario.plan.workload, "wait", None)
    return None if wait is None or wait.by == "connected" else Cell(wait_words(wait))


def _energy(scenario: Scenario) -> Cell | None:
    found = scenario.estimate(INTERVAL, "mean")
    return None if found is None or found.point is None else Cell(interval(found, MILLIJOULES))


EXTRA = (
    _Extra(Column("waits by", numeric=False), _waits_by, "stays connected"),
    _Extra(Column("energy of a message: mean [95 %]", unit="mJ"), _energy, "no radio, or no whole interval"),
)


def section(campaign: Campaign) -> Section | None:
    """A row for each scenario with messages; None without any."""
    if not any(scenario.messages for scenario in campaign.scenarios):
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        shown = [pair for pair in group.pairs if pair[1].key in group.own and pair[1].messages]
        extra = [column for column in EXTRA if any(column.cell(scenario) is not None for _, scenario in shown)]
        columns = [*SCENARIO_COLUMNS, *(each.column for each in extra), *COLUMNS]
        rows = [
            [
                *scenario_cells(condition, scenario),
                *(each.cell(scenario) or dash(each.absent) for each in extra),
                *_cells(scenario),
            ]
            for condition, scenario in shown
        ]
        table = Table("Messages from publisher to subscriber", columns, rows, row_headers=2)
        return [table] if rows else []

    note = (
        "Delivery delay is from when a message was due at the publisher's application to its arrival at the "
        "subscriber's, on one clock. Lost: never arrived; a message after the timeout counts as timed out, not "
        "as lost. A player stalls if a message is missing at its playout time; successive late messages are one stall."
    )
    if any(_energy(scenario) for scenario in campaign.scenarios if scenario.messages):
        note += ENERGY_NOTE
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
