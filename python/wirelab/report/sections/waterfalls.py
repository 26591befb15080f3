"""Loads of a page as waterfalls: of each scenario the completed load nearest to its median."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, fields
from urllib.parse import unquote

import polars as pl

from wirelab.launcher import launched
from wirelab.metrics.resource_timings import PHASE_COLUMNS, RESOURCES
from wirelab.report.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Grid,
    Prose,
    Section,
    Table,
    dash,
    number,
)
from wirelab.report.campaign import Campaign
from wirelab.report.figures.waterfall import Fall, Lane, waterfall
from wirelab.report.model import Condition, Scenario
from wirelab.report.model import Group as Choices
from wirelab.report.numbers import plain
from wirelab.report.sections.common import by_choices, parts_legend
from wirelab.units import format_size

_WORDS = ("queued", "TCP connect", "TLS or QUIC handshake", "waiting", "receiving")
PHASES = dict(zip(PHASE_COLUMNS, _WORDS, strict=True))
METRIC, COLUMN = "load-time", "load_time_ns"
MOST_LANES = 60
"""Resources in one chart; the dataset has the others."""
MOST_PICTURES = 48
"""Waterfalls in one report, which is a single file: each needs about a hundred kilobytes."""
MOST_QUERY = 12
"""Characters of a query in a label, which has room for about twenty."""
COLUMNS = (
    Column("resource", numeric=False), Column("kind", numeric=False), Column("found by", numeric=False),
    Column("connection"), Column("known at", "ms"), *(Column(words, "ms") for words in PHASES.values()),
    Column("end", "ms"), Column("body", "B"), Column("urgency"), Column("outcome", numeric=False),
)  # fmt: skip


@dataclass(frozen=True)
class _Resource:
    """The columns of `resources.parquet` that are shown."""

    path: str
    kind: str | None
    found_by: str
    pushed: bool | None
    outcome: str
    error: str | None
    connection: int | None
    urgency: int | None
    incremental: bool | None
    discovered_ns: int
    end_ns: int
    body_received_bytes: int
    phases_ns: list[int | None]
    """In the order of `PHASES`."""

    @classmethod
    def of(cls, rows: pl.DataFrame) -> list[_Resource]:
        """A resource for each row."""
        names = [field.name for field in fields(cls)]
        together = pl.concat_list(pl.col(column) for column in PHASES).alias("phases_ns")
        return [cls(**row) for row in rows.with_columns(together).select(names).iter_rows(named=True)]


@dataclass(frozen=True)
class _Load:
    """One load with its resources, in the order in which they were known."""

    scenario: Scenario
    trial: str
    index: int
    start_ns: int
    took_ns: int
    resources: list[_Resource]


def section(campaign: Campaign) -> Section | None:
    """A waterfall of each scenario; None if no page was loaded completely."""
    found = _loads(campaign)
    if not found:
        return None
    loads = dict(itertools.islice(found.items(), MOST_PICTURES))
    note = (
        "For each scenario the completed load nearest to the median load time. A bar begins when the client "
        "discovers the resource and ends with its last byte. The thin line is waiting for a connection, or for its "
        "turn on one. The dashed line is the end of the load. Charts side by side have the same axis. Hovering over "
        "a bar shows its phases; the tables below have them as numbers."
    )
    if len(found) > len(loads):
        note += f" The first {len(loads)} of {len(found)} scenarios."
    har = launched("show CAMPAIGN TRIAL --har FILE")
    note += f" {har} writes the loads of any trial as HAR 1.2, for a browser's developer tools."
    key = parts_legend({words: slot for slot, words in enumerate(PHASES.values())})

    def build(group: Choices, prefix: str) -> list[Block]:
        drawn = [_condition(loads, condition, f"{prefix}-load{i}") for i, condition in enumerate(group.conditions)]
        return [grid for grid in drawn if grid is not None]

    line = "The load nearest to the median of each scenario: a bar for each resource, from discovery to its last byte."
    return Section("waterfalls", "Waterfalls of page loads", [Prose(note), key, *by_choices(campaign, build)], line)


def _loads(campaign: Campaign) -> dict[str, _Load]:
    """The load that is shown for each scenario."""
    paths = [campaign.folder / name for name in ("exchanges.parquet", RESOURCES)]
    if not all(path.exists() for path in paths):
        return {}
    exchanges, resources = (pl.read_parquet(path) for path in paths)
    found = {}
    for scenario in dict.fromkeys(scenario for group in campaign.groups for scenario in group.scenarios):
        median = scenario.estimate(METRIC, "median")
        complete = exchanges.filter(pl.col("scenario") == scenario.key).drop_nulls(COLUMN)
        if median is None or median.point is None or complete.is_empty():
            continue
        nearest = (pl.col(COLUMN) - median.point * 1e9).abs()
        load = complete.sort(nearest, "trial", "index").row(0, named=True)
        mine = (pl.col("trial") == load["trial"]) & (pl.col("exchange") == load["index"])
        rows = _Resource.of(resources.filter(mine).sort("discovered_ns", "resource", nulls_last=True))
        if rows:
            found[scenario.key] = _Load(scenario, load["trial"], load["index"], load["start_ns"], load[COLUMN], rows)
    return found


def _condition(loads: Mapping[str, _Load], condition: Condition, prefix: str) -> Grid | None:
    shown = [loads[one.key] for one in condition.scenarios if one.key in loads and one.plotted]
    if not shown:
        return None
    widest = 1.04 * max(
        max(load.took_ns, *(row.end_ns - load.start_ns for row in load.resources[:MOST_LANES])) / 1e6 for load in shown
    )
    return Grid(
        condition.label,
        [_figure(load, condition.label, f"{prefix}-{i}", widest) for i, load in enumerate(shown)],
    )


def _figure(load: _Load, where: str, name: str, widest: float) -> Figure:
    series, took = load.scenario.series.label, load.took_ns / 1e6
    rows = load.resources[:MOST_LANES]
    lanes = [_lane(load, row) for row in rows]
    label = f"Waterfall of a page load over {series}, {where}"
    svg = waterfall(name, label, Fall(lanes, took, widest), {words: i for i, words in enumerate(PHASES.values())})
    more = len(load.resources) - len(rows)
    left_out = f" The first {len(rows)} of {len(load.resources)} resources; {RESOURCES} has all." if more else ""
    caption = f"Load {load.index} of trial {load.trial}: {plain(took, 1)} ms.{left_out}"
    table = Table(f"Resources of the load over {series}, {where}", COLUMNS, [_row(load, row) for row in rows])
    return Figure(series, label, caption, svg, [table])


def _lane(load: _Load, row: _Resource) -> Lane:
    phases = [None if took is None else took / 1e6 for took in row.phases_ns]
    parts = [
        f"{words} {plain(took, 1)} ms"
        for words, took in zip(PHASES.values(), phases, strict=True)
        if took is not None and took > 0
    ]
    at = (row.discovered_ns - load.start_ns) / 1e6
    end = (row.end_ns - load.start_ns) / 1e6
    what = ", ".join(filter(None, (row.kind, format_size(row.body_received_bytes), _found(row))))
    tip = f"{row.path} ({what}): found at {plain(at, 1)} ms, {', '.join(parts) or 'no phases'}, end {plain(end, 1)} ms"
    mark = "" if row.outcome == "completed" else row.outcome
    return Lane(_label(row.path), at, phases, "; ".join(filter(None, (tip, mark, mark and row.error))), mark)


def _label(path: str) -> str:
    """The decoded name of a file, and the beginning of its query."""
    name, mark, query = path.partition("?")
    words = unquote(query)
    short = words if len(words) <= MOST_QUERY else f"{words[: MOST_QUERY - 1]}…"
    return f"{unquote(name.rpartition('/')[2] or name)}{mark}{short}"


def _found(row: _Resource) -> str:
    """How the client discovered it."""
    words = {"navigation": "the page", "body": "named in a body", "hint": "hinted at", "push": "pushed"}
    return "pushed" if row.pushed else words[row.found_by]


def _row(load: _Load, row: _Resource) -> list[Cell]:
    connection = dash("it never got a connection") if row.connection is None else Cell(str(row.connection))
    urgency = "" if row.urgency is None else f"{row.urgency}{', incremental' * bool(row.incremental)}"
    return [
        Cell(row.path),
        Cell(row.kind) if row.kind else dash("the manifest does not have it"),
        Cell(_found(row)),
        connection,
        number((row.discovered_ns - load.start_ns) / 1e6, 1),
        *(
            dash("the phase did not happen or was not seen") if took is None else number(took / 1e6, 1)
            for took in row.phases_ns
        ),
        number((row.end_ns - load.start_ns) / 1e6, 1),
        number(row.body_received_bytes, 0),
        Cell(urgency) if urgency else dash("no priority was sent, or it was not seen"),
        Cell(row.outcome, title=row.error),
    ]
