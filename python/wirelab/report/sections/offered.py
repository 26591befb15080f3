"""Messages of an open loop: the rate at which they came, the rate at which they were served, and what limits that."""

from __future__ import annotations

from dataclasses import replace

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import COUNT, PERCENT, Estimate, plain
from wirelab.report.sections.common import (
    COMPLETED,
    LINK_TONES,
    SCENARIO_COLUMNS,
    by_choices,
    completed_cell,
    scenario_cells,
)
from wirelab.schema.estimates import End, OfferedRecord
from wirelab.stats.machine.offered import MOST_SLOPE, rate_texts

ROLES: tuple[End, ...] = ("client", "server")
COLUMNS = (
    Column("offered"),
    Column("served"),
    Column("delay grows by [interval]", "s/s"),
    Column("limit", numeric=False),
    Column("growth while all places were taken", "%"),
    Column("growth with a free place", "%"),
    Column("growth after the start", "%"),
    *(Column(f"{role}: {what}", "%") for role in ROLES for what in ("CPU used", "CPU waited for")),
    Column("quality", numeric=False),
    COMPLETED,
)


def section(campaign: Campaign) -> Section | None:
    """A row for each scenario of an open loop; None without any."""
    if not any(scenario.offered for scenario in campaign.scenarios):
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        rows = [
            [*scenario_cells(condition, scenario), *_cells(scenario, record), completed_cell(scenario)]
            for condition, scenario in group.pairs
            if scenario.key in group.own and (record := scenario.offered) is not None
        ]
        table = Table("Messages offered and served", [*SCENARIO_COLUMNS, *COLUMNS], rows, row_headers=2)
        return [table] if rows else []

    note = (
        "Messages come at their own times, and delays count from these. If each message takes longer than the one "
        "before, more is offered than is served: delays then grow as long as a trial lasts, and are neither shown nor "
        f"compared. That is said where the interval of the growth lies above {MOST_SLOPE:g} s a second. A long delay "
        "that does not grow is no overload. A limit of our own client makes a scenario unusable."
    )
    return Section("offered", "Offered and served", [Prose(note), *by_choices(campaign, build)])


def _cells(scenario: Scenario, record: OfferedRecord) -> list[Cell]:
    slow = scenario.overload is not None
    offered, served = rate_texts(record)
    growth = record.get("growth")
    shares = [None, None, None] if growth is None else [growth["places"], growth["late"], growth["inside"]]
    why = "the client does not say when a place was free" if slow else "it keeps up"
    ends = [record["ends"][role] for role in ROLES]
    busy = [share for end in ends for share in (end["cpu"], end["waited"])]
    limit = record["why"] if record["limit"] == "not known" else f"{record['limit']}: {record['why']}"
    return [
        Cell(offered),
        Cell(served, tone="unsure" if slow else None),
        estimate(_growth(record), COUNT),
        Cell(limit, tone="unsure") if slow else dash("it keeps up"),
        *(_share(value, why) for value in shares),
        *(_share(value, "not counted") for value in busy),
        Cell(record["flag"], title=record["cure"], tone=LINK_TONES[record["flag"]]),
    ]


def _growth(record: OfferedRecord) -> Estimate | None:
    """To 0.1 ms a second: the slope of hourly messages is otherwise a row of zeros."""
    slope = Estimate.of(record["slope"])
    if slope is None:
        return None
    point, low, high = (None if each is None else round(each, 4) for each in (slope.point, slope.low, slope.high))
    return replace(slope, point=point, low=low, high=high)


def _share(value: float | None, why: str) -> Cell:
    return dash(why) if value is None else Cell(plain(value * PERCENT.per_base, 0))
