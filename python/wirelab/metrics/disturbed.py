"""Exchanges during which the emulator delivered a packet late: their delays are not the protocol's alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wirelab import agent
from wirelab.schema import LinkReport, is_netem, link_key, round_trip_ns
from wirelab.schema.campaign import PACKET_LOG, RESULT, TRIALS, packet_log, read_result
from wirelab.schema.plan import Plan, Scenario

LEAST_NS = 500_000
SHARE_OF_RTT = 0.1
Spans = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Begins and ends."""
_TYPES = {"departure_ns": pl.Int64, "lateness_ns": pl.Int64}


def disturbed(campaign: Path, plan: Plan, trials: pl.DataFrame, exchanges: pl.DataFrame) -> pl.Series:
    """Whether a packet was late by more than `disturbance_ns` during each exchange, on any link and of any flow: the
    emulator delays them all. Null if that is not known, as with netem.
    """
    scenarios = {scenario.key: scenario for scenario in plan.scenarios}
    rows = trials.select("trial", "scenario", "lateness_max_ns").iter_rows()
    late = {trial: _late(campaign / TRIALS / trial, plan, scenarios[key], worst_ns) for trial, key, worst_ns in rows}
    known = [trial for trial, spans in late.items() if spans is not None]
    timed = pl.col("trial").is_in(known) & pl.col("start_ns").is_not_null() & pl.col("end_ns").is_not_null()
    found = exchanges.select(disturbed=pl.when(timed).then(pl.lit(False)))["disturbed"]
    some = [trial for trial, spans in late.items() if spans is not None and len(spans[0])]
    of_some = (
        exchanges.select("trial", "start_ns", "end_ns")
        .with_row_index("row")
        .filter(timed & pl.col("trial").is_in(some))
    )
    for (trial,), mine in of_some.partition_by("trial", as_dict=True).items():
        spans, times = late[trial], mine["start_ns", "end_ns"].iter_rows()
        assert spans is not None
        found = found.scatter(mine["row"], [_overlaps(spans, begin, end) for begin, end in times])
    return found


def disturbance_ns(plan: Plan, scenario: Scenario) -> int:
    """A tenth of the round trip of the scenario's links, and 0.5 ms at least: a link of which 1 % of the packets are so
    late is of unusable quality.
    """
    round_trips_ns = (round_trip_ns(plan.link_facts[link_key(link)]) for link in scenario.links)
    return max(LEAST_NS, round(SHARE_OF_RTT * sum(round_trips_ns)))


def _late(folder: Path, plan: Plan, scenario: Scenario, worst_ns: int | None) -> Spans | None:
    """When late packets should have left, and when they did; None if a link says nothing of it."""
    if any(is_netem(link) for link in scenario.links):
        return None
    bound_ns = disturbance_ns(plan, scenario)
    logs = {PACKET_LOG: worst_ns}
    if scenario.topology:
        logs |= {packet_log(name): _worst_ns(link) for name, link in read_result(folder / RESULT).other_links.items()}
    late = [folder / name for name, worst in logs.items() if worst is not None and worst > bound_ns]
    if not all(log.exists() for log in late):
        return None
    packets = pl.concat([pl.DataFrame(schema=_TYPES), *map(_packets, late)])
    packets = packets.filter(pl.col("lateness_ns") > bound_ns)
    left = packets["departure_ns"].to_numpy()
    return left, left + packets["lateness_ns"].to_numpy()


def _overlaps(late: Spans, begin: int, end: int) -> bool:
    return bool(np.any((late[0] <= end) & (late[1] >= begin)))


def _worst_ns(report: LinkReport) -> int:
    return max((direction.lateness.max_ns for direction in report.directions), default=0)


def _packets(log: Path) -> pl.DataFrame:
    text = agent.ask(agent.find_agent(), ["dissect", "--", str(log)])
    return pl.read_ndjson(text.encode(), schema=_TYPES) if text else pl.DataFrame(schema=_TYPES)
