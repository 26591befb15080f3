"""The times of an exchange at a proxy, from the proxy's own rows: all processes read one clock."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from wirelab.metrics.base import Metric, when_completed
from wirelab.metrics.raw_rows import read_rows

_STAMPS = ("start_ns", "request_start_ns", "end_ns")
"""Of the proxy's own rows."""
_COLUMNS = {"proxy_start_ns": pl.Int64, "proxy_asks_ns": pl.Int64, "proxy_end_ns": pl.Int64}

METRICS = (
    Metric(
        "proxy-time",
        "ns",
        "Time of the request at the proxy, from its last byte to the start of its answer: the origin's "
        "time, and the proxy's own.",
        when_completed(pl.col("proxy_end_ns") - pl.col("proxy_start_ns")),
    ),
    Metric(
        "origin-time",
        "ns",
        "How long the proxy waited for the server behind it, from when it forwarded the request to when the answer was "
        "whole: the wire's time, and the server's. Null for what came from the proxy's cache.",
        when_completed(pl.col("proxy_end_ns") - pl.col("proxy_asks_ns")),
    ),
)


def with_proxy(exchanges: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """A trial's exchanges with the instants at the proxy; null without one, and where exchanges overlap, for then it is
    not known which of them the proxy was asked by.
    """
    path = folder / "proxy" / "exchanges.arrow"
    unknown = [pl.lit(None, dtype=kind).alias(name) for name, kind in _COLUMNS.items()]
    if not path.exists() or exchanges.is_empty():
        return exchanges.with_columns(unknown)
    ordered = exchanges.sort("start_ns")
    if (ordered["start_ns"] < ordered["end_ns"].shift(1)).any():
        return exchanges.with_columns(unknown)
    rows = read_rows(path.parent, "exchanges", dict.fromkeys(_STAMPS, pl.Int64)).select(
        pl.col(own).alias(name) for own, name in zip(_STAMPS, _COLUMNS, strict=True)
    )
    asked = (
        rows.sort("proxy_start_ns")
        .join_asof(ordered.select("start_ns", "end_ns"), left_on="proxy_start_ns", right_on="start_ns")
        .filter(pl.col("proxy_end_ns") <= pl.col("end_ns"))
        .unique("start_ns", keep="none")
        .select("start_ns", *_COLUMNS)
    )
    return exchanges.join(asked, on="start_ns", how="left", maintain_order="left")
