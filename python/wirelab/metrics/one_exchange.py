"""One exchange that stands for many: a typical one, or the slowest."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import WAITED
from wirelab.metrics.registry import EXCHANGE_METRICS

LATE = 2.3
"""Times the median: about what a message takes whose packet was lost, and retransmitted after acknowledgements."""


def late_exchange(rows: pl.DataFrame) -> pl.DataFrame:
    """The completed exchange whose end-to-end delay is nearest to `LATE` times the median; no row without any."""
    delay = pl.col("end_to_end_delay_ns")
    return rows.drop_nulls("end_to_end_delay_ns").sort((delay - LATE * delay.median()).abs(), "trial", "index").head(1)


def one_exchange(rows: pl.DataFrame, metric: str, *, slowest: bool) -> pl.DataFrame:
    """The slowest exchange (one that timed out before any other), or the completed one nearest to the median; no row if
    there is none.
    """
    column = next((m.column for m in EXCHANGE_METRICS if m.name == metric), "end_to_end_delay_ns")
    if slowest:
        took = (
            pl.when(pl.col("outcome") == "completed")
            .then(pl.col(column))
            .otherwise(pl.col("end_ns") - pl.col("start_ns") + WAITED)
        )
        return rows.sort(took, descending=True, nulls_last=True).head(1)
    return rows.drop_nulls(column).sort((pl.col(column) - pl.col(column).median()).abs()).head(1)
