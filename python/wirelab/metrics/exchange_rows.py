"""Exchanges of trials: as their clients wrote them, and as the rows of `exchanges.parquet`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wirelab.metrics.flows import with_loads
from wirelab.metrics.page import PAGE
from wirelab.metrics.proxy import with_proxy
from wirelab.metrics.radio import Spent
from wirelab.metrics.raw_rows import read_rows
from wirelab.metrics.registry import EXCHANGE_METRICS
from wirelab.schema import exchange_columns
from wirelab.schema.campaign import TRIALS
from wirelab.schema.plan import Scenario
from wirelab.schema.workload import RequestResponse, Stream

TRIAL_KEYS = {"trial": pl.String, "scenario": pl.String, "block": pl.Int64, "replicate": pl.Int64, "lane": pl.Int64}
_WORDS = {"outcome", "error"}
_FLAGS = {"connection_reused", "resumed", "early_data"}
EXCHANGE_TYPES = {
    name: pl.String if name in _WORDS else pl.Boolean if name in _FLAGS else pl.Int64 for name in exchange_columns()
}
"""Columns of exchanges of all workloads, which metrics are computed over: null in an exchange of another workload."""
_DOWNLOAD = (
    pl.when(pl.col("downloads").list.len() > 0)
    .then(pl.col("downloads").list.get(pl.col("index") % pl.col("downloads").list.len(), null_on_oob=True))
)  # fmt: skip


def exchange_types(scenarios: Iterable[Scenario]) -> dict[str, type[pl.DataType]]:
    """The columns of clients' rows that a campaign of these scenarios has: extensions of its workloads only."""
    return {name: EXCHANGE_TYPES[name] for name in exchange_columns({each.workload.kind for each in scenarios})}


def recorded_exchanges(campaign: Path, trials: Iterable[str]) -> pl.DataFrame:
    """The exchanges of some trials, as their clients and proxies wrote them."""
    folders = {trial: campaign / TRIALS / trial for trial in trials}
    frames = [with_proxy(read_exchanges(folder, trial), folder) for trial, folder in folders.items()]
    empty = with_proxy(pl.DataFrame(schema={"trial": pl.String, **EXCHANGE_TYPES}), campaign)
    return pl.concat([empty, *frames])


def exchange_rows(
    exchanges: pl.DataFrame,
    trials: pl.DataFrame,
    scenarios: Sequence[Scenario],
    flows: pl.DataFrame,
    spent: Spent,
) -> pl.DataFrame:
    context = pl.DataFrame(
        [
            (
                s.key,
                s.protocol,
                s.workload.kind,
                s.workload.upload_bytes,
                list(s.workload.downloads) if isinstance(s.workload, RequestResponse) else [],
                bool(s.settings.get("expect-continue", False)),
                s.workload.playout_delay_ns if isinstance(s.workload, Stream) else None,
            )
            for s in scenarios
        ],
        schema={
            "scenario": pl.String,
            "protocol": pl.String,
            "workload": pl.String,
            "upload_bytes": pl.Int64,
            "downloads": pl.List(pl.Int64),
            "expect_continue": pl.Boolean,
            "playout_delay_ns": pl.Int64,
        },
        orient="row",
    )
    pages = [s.key for s in scenarios if s.workload.kind == PAGE]
    flows = with_loads(flows, exchanges, trials.filter(pl.col("scenario").is_in(pages))["trial"])
    return (
        exchanges.join(trials.select(list(TRIAL_KEYS)), on="trial", how="left", maintain_order="left")
        .join(context, on="scenario", how="left", maintain_order="left")
        .join(flows, on=["trial", "local_port"], how="left", maintain_order="left")
        .join(spent.exchanges, on=["trial", "client", "index"], how="left", maintain_order="left")
        .with_columns(flow_exchanges=pl.len().over("trial", "local_port"), download_bytes=_DOWNLOAD)
        .select(
            *TRIAL_KEYS,
            *exchange_types(scenarios),
            "download_bytes",
            "disturbed",
            *(metric.value.alias(metric.column) for metric in EXCHANGE_METRICS),
        )
    )


def exchanges_of(campaign: Path, trial: str) -> list[dict[str, Any]]:
    """A trial's exchanges as its client wrote them; none if it wrote no file."""
    return read_exchanges(campaign / TRIALS / trial, trial).to_dicts()


def read_exchanges(folder: Path, trial: str) -> pl.DataFrame:
    """A trial's exchanges as its client wrote them; none if it wrote no file."""
    read = read_rows(folder / "client", "exchanges", EXCHANGE_TYPES)
    # A program that has but one client need not number it.
    return read.select(pl.lit(trial).alias("trial"), pl.all()).with_columns(pl.col("client").fill_null(0))


def with_absent(exchanges: pl.DataFrame) -> pl.DataFrame:
    """The same with the columns of all workloads: null where a file has none of them."""
    absent = {name: kind for name, kind in EXCHANGE_TYPES.items() if name not in exchanges.columns}
    return exchanges.with_columns(pl.lit(None, dtype=kind).alias(name) for name, kind in absent.items())
