"""Rates of application data."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import COMPLETED, ORIGIN, Metric, since, when_completed

_BODY_BITS = 8 * (pl.col("body_sent_bytes") + pl.col("body_received_bytes")).cast(pl.Float64)
_BUSY_NS = (pl.col("end_ns").max() - pl.col("start_ns").min()).over("trial")
_CARRIED = _BODY_BITS.sum().over("trial")
_FIRST_COMPLETED = COMPLETED & (COMPLETED.cum_sum().over("trial") == 1)

METRICS = (
    Metric(
        "goodput",
        "bps",
        "Application body bits of both directions over the end-to-end delay (RFC 2647, section 3.17: no header, no "
        "retransmission counts). For a small body this is a delay in disguise.",
        when_completed(pl.when(since("end_ns", ORIGIN) > 0).then(_BODY_BITS * 1e9 / since("end_ns", ORIGIN))),
    ),
    Metric(
        "throughput",
        "bps",
        "Application body bits that a trial's exchanges carried, of both directions and all clients, over the time "
        "from the first start to the last end; what an exchange carried before its time-out counts. One value a "
        "trial, in the row of its first completed exchange.",
        pl.when(_FIRST_COMPLETED & (_BUSY_NS > 0)).then(_CARRIED * 1e9 / _BUSY_NS),
    ),
)
