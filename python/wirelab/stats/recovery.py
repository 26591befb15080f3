"""What outages did: figures of `outages.parquet` by scenario."""

from __future__ import annotations

from math import inf, isfinite
from statistics import median
from typing import TYPE_CHECKING

from wirelab.metrics.energy_names import BOUNDS, PART, column
from wirelab.metrics.outages import COLUMNS, OUTAGES
from wirelab.metrics.tables import read_table
from wirelab.schema.bounds import Bounds
from wirelab.schema.plan import Scenario
from wirelab.schema.recovery import RecoveryRecord, RecoveryTimes
from wirelab.stats.dataset import Dataset

if TYPE_CHECKING:
    import polars as pl

_BUILTIN = "builtin"


def recoveries(dataset: Dataset) -> dict[str, RecoveryRecord]:
    """For each scenario with an outage that a message met."""
    path = dataset.folder / OUTAGES
    if not path.exists():
        return {}
    tables = read_table(path, types=COLUMNS).partition_by("scenario", as_dict=True)
    mine = {scenario.key: (scenario, tables.get((scenario.key,))) for scenario in dataset.scenarios}
    return {
        key: _record(scenario, table)
        for key, (scenario, table) in mine.items()
        if table is not None and table["met"].any()
    }


def _record(scenario: Scenario, outages: pl.DataFrame) -> RecoveryRecord:
    table = outages.filter(outages["met"])
    affected = int(table["affected"].sum())
    return {
        "what": sorted(table["what"].unique().to_list()),
        "outages": len(table),
        "not_met": len(outages) - len(table),
        "not_recovered": table["recovery_ns"].null_count(),
        "recovery": _times(table["recovery_ns"]),
        "affected": affected,
        "lost": int(table["lost"].sum()),
        "late": int(table["late"].sum()),
        "attempts": _attempts(table, affected),
        "energy_j": _energy(table),
        "forgets": scenario.restart is not None and scenario.implementation.server == _BUILTIN,
    }


def _times(recovery_ns: pl.Series) -> RecoveryTimes | None:
    times = sorted(inf if value is None else value / 1e9 for value in recovery_ns.to_list())
    if not isfinite(times[0]):
        return None
    middle, most = (value if isfinite(value) else None for value in (median(times), times[-1]))
    return {"least_s": times[0], "median_s": middle, "most_s": most}


def _attempts(table: pl.DataFrame, affected: int) -> float | None:
    """By message. An outage whose messages are all of the one before has none."""
    known = table.filter(table["affected"] > 0)["attempts"]
    return None if known.null_count() or not affected else int(known.sum()) / affected


def _energy(table: pl.DataFrame) -> Bounds | None:
    columns = [column(PART, bound) for bound in BOUNDS]
    known = table.filter(table["affected"] > 0)
    if known.is_empty() or any(known[name].null_count() for name in columns):
        return None
    sums = {bound: float(known[column(PART, bound)].sum()) / len(table) for bound in BOUNDS}
    return {"low": sums["low"], "typical": sums["typical"], "high": sums["high"]}
