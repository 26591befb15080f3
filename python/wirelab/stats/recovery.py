"""What outages did: figures of `outages.parquet` by scenario."""

from __future__ import annotations

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
    """For each scenario with an outage."""
    path = dataset.folder / OUTAGES
    if not path.exists():
        return {}
    tables = read_table(path, types=COLUMNS).partition_by("scenario", as_dict=True)
    mine = {scenario.key: (scenario, tables.get((scenario.key,))) for scenario in dataset.scenarios}
    return {key: _record(scenario, table) for key, (scenario, table) in mine.items() if table is not None}


def _record(scenario: Scenario, table: pl.DataFrame) -> RecoveryRecord:
    affected = int(table["affected"].sum())
    attempts = None if table["attempts"].null_count() or not affected else int(table["attempts"].sum()) / affected
    return {
        "what": sorted(table["what"].unique().to_list()),
        "outages": len(table),
        "not_recovered": table["recovery_ns"].null_count(),
        "recovery": _times(table["recovery_ns"].drop_nulls()),
        "affected": affected,
        "lost": int(table["lost"].sum()),
        "late": int(table["late"].sum()),
        "attempts": attempts,
        "energy_j": _energy(table),
        "forgets": scenario.restart is not None and scenario.implementation.server == _BUILTIN,
    }


def _times(recovery_ns: pl.Series) -> RecoveryTimes | None:
    if recovery_ns.is_empty():
        return None
    ordered = sorted(value / 1e9 for value in recovery_ns.to_list())
    return {"least_s": ordered[0], "median_s": median(ordered), "most_s": ordered[-1]}


def _energy(table: pl.DataFrame) -> Bounds | None:
    columns = [column(PART, bound) for bound in BOUNDS]
    if any(table[name].null_count() for name in columns):
        return None
    sums = {bound: float(table[column(PART, bound)].sum()) / len(table) for bound in BOUNDS}
    return {"low": sums["low"], "typical": sums["typical"], "high": sums["high"]}
