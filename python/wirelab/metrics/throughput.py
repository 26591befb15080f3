"""Rates of application data."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import ORIGIN, Metric, since, when_completed

_BODY_BITS = 8 * (pl.col("body_sent_bytes") + pl.col("body_received_bytes")).cast(pl.Float64)

METRICS = (
    Metric(
        "goodput",
        "bps",
        "Application body bits of both directions over the end-to-end delay (RFC 2647, section 3.17: no header, no "
        "retransmission counts). For a small body this is a delay in disguise.",
        when_completed(pl.when(since("end_ns", ORIGIN) > 0).then(_BODY_BITS * 1e9 / since("end_ns", ORIGIN))),
    ),
)
