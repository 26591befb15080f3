"""The outages of trials as a table, from the plan, packet logs, results and exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wirelab.metrics.energy_names import BOUNDS, PART, column
from wirelab.metrics.flows import Types
from wirelab.metrics.packets import first_arrival_ns
from wirelab.metrics.recovery import LATE, LOST, RECOVERY, Event, Recovery, recoveries
from wirelab.metrics.tables import write_table
from wirelab.schema import IdleStart, LinkSpec, Outage, Role
from wirelab.schema.campaign import PACKET_LOG, RESULT, TRIALS, packet_log, read_result
from wirelab.schema.plan import Plan, Scenario

OUTAGES = "outages.parquet"
COLUMNS: Types = {
    "trial": pl.String, "scenario": pl.String, "client": pl.Int64, "what": pl.String,
    "outage_start_ns": pl.Int64, "outage_end_ns": pl.Int64, "met": pl.Boolean, "recovery_ns": pl.Int64,
    "affected": pl.Int64, "lost": pl.Int64, "late": pl.Int64, "attempts": pl.Int64,
    **dict.fromkeys((column(PART, bound) for bound in BOUNDS), pl.Float64),
}  # fmt: skip
TRIAL_COLUMNS = (RECOVERY, LOST, LATE)
_READ = (
    "client", "start_ns", "intended_start_ns", "end_ns", "outcome", "copies", "attempts",
    *(column(PART, bound) for bound in BOUNDS),
)  # fmt: skip
"""Columns of exchanges, of which some may be absent."""


def has_outages(scenario: Scenario) -> bool:
    """Whether a link or the server is away at times. Of an idle start, whose link's clock is not the messages', none
    are looked for.
    """
    idle = isinstance(getattr(scenario.workload, "arrival", None), IdleStart)
    return not idle and (scenario.restart is not None or any(_stages(link) for link in scenario.links))


def outages(campaign: Path, plan: Plan, trials: pl.DataFrame, exchanges: pl.DataFrame) -> pl.DataFrame:
    """A row for each outage and client of the trials that are done."""
    scenarios = {each.key: each for each in plan.scenarios if has_outages(each)}
    done = trials.filter((pl.col("status") == "done") & ~pl.col("excluded") & pl.col("scenario").is_in(list(scenarios)))
    rows: list[dict[str, Any]] = []
    read = exchanges.select("trial", *(name for name in _READ if name in exchanges.columns))
    mine = read.filter(pl.col("trial").is_in(done["trial"].to_list())).partition_by("trial", as_dict=True)
    for trial, key in done.select("trial", "scenario").iter_rows():
        if (messages := mine.get((trial,))) is None:
            continue
        scenario, events = scenarios[key], _events(campaign / TRIALS / trial, scenarios[key])
        found = recoveries(messages.to_dicts(), events, scenario.workload.timeout_ns)
        rows += [{"trial": trial, "scenario": key, **_row(each)} for each in found]
    return pl.DataFrame(rows, schema=COLUMNS)


def write_outages(campaign: Path, table: pl.DataFrame) -> None:
    """Write the table; none without an outage."""
    if table.is_empty():
        (campaign / OUTAGES).unlink(missing_ok=True)
    else:
        write_table(table, campaign / OUTAGES)


def by_trial(table: pl.DataFrame) -> pl.DataFrame:
    """The columns of `trials.parquet`. A mean over some of the recoveries would be the shorter, the fewer there are."""
    all_recovered = pl.col("recovery_ns").count() == pl.col("met").sum()
    return table.group_by("trial").agg(
        pl.when(all_recovered).then(pl.col("recovery_ns").mean().round().cast(pl.Int64)).alias(RECOVERY),
        pl.col("lost").sum().alias(LOST),
        pl.col("late").sum().alias(LATE),
    )


def _row(found: Recovery) -> dict[str, Any]:
    energies = {}
    for bound in BOUNDS:
        joules = [row.get(column(PART, bound)) for row in found.affected]
        known = [each for each in joules if each is not None]
        energies[column(PART, bound)] = sum(known) if known and len(known) == len(joules) else None
    attempts = [row.get("attempts") for row in found.affected]
    return {
        "client": found.client, "what": found.event.kind,
        "outage_start_ns": found.event.start_ns, "outage_end_ns": found.event.end_ns,
        "met": found.met, "recovery_ns": found.recovery_ns,
        "affected": len(found.affected), "lost": found.lost, "late": found.late,
        "attempts": None if not attempts or None in attempts else sum(attempts),
        **energies,
    }  # fmt: skip


def _events(folder: Path, scenario: Scenario) -> Iterator[Event]:
    result = read_result(folder / RESULT)
    for endpoint in result.endpoints:
        if endpoint.name == Role.SERVER:
            yield from (Event("server", each.stopped_ns, each.ready_ns) for each in endpoint.restarts)
    names = [PACKET_LOG, *(packet_log(each.name) for each in scenario.topology if each.link is not None)]
    for link, name in zip(scenario.links, names, strict=True):
        stages = _stages(link)
        first_ns = first_arrival_ns(folder / name) if stages else None
        if first_ns is not None:
            for stage in stages:
                yield from _of_link(stage, first_ns, result.end_ns)


def _of_link(stage: Outage, first_ns: int, until_ns: int) -> Iterator[Event]:
    """The outages of one stage, which are counted from the link's first packet."""
    start_ns = first_ns + stage.start_ns
    while start_ns < until_ns:
        yield Event("link", start_ns, start_ns + stage.duration_ns)
        if stage.every_ns is None:
            return
        start_ns += stage.every_ns


def _stages(link: LinkSpec) -> Sequence[Outage]:
    return [stage for stage in (*link.uplink, *link.downlink) if isinstance(stage, Outage)]
