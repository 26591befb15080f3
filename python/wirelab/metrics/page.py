"""What the load of a page took: a row is one load, and null in what is none (`docs/design/pages.md`)."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import COMPLETED, Metric, when_completed

PAGE = "page"
"""The kind of workload."""
_LOAD = pl.col("workload") == PAGE
_ANSWERED = _LOAD & (COMPLETED | (pl.col("outcome") == "timed-out"))
"""Loads with a first byte of the document: known also for a load that timed out later."""


def _of_load(value: pl.Expr) -> pl.Expr:
    """The value for complete loads only: counts of a timed-out load depend on the timeout."""
    return when_completed(pl.when(_LOAD).then(value))


METRICS = (
    Metric(
        "load-time",
        "ns",
        "From the start of the navigation to the last byte of the page's last resource: what a browser's load event "
        "waits for (W3C Navigation Timing, loadEventStart - startTime). Of a real browser it is that event, with what "
        "parsing and drawing take.",
        _of_load(pl.col("end_ns") - pl.col("start_ns")),
    ),
    Metric(
        "time-to-first-byte",
        "ns",
        "From the start of the navigation to the first byte of the document's final response, connection included "
        "(W3C Resource Timing, finalResponseHeadersStart - startTime). Also of a load that timed out after it.",
        pl.when(_ANSWERED).then(pl.col("first_final_byte_ns") - pl.col("start_ns")),
    ),
    Metric("page-connections", "", "Connections that a load opened.", _of_load(pl.col("connections"))),
    Metric(
        "page-body-bytes",
        "bytes",
        "Bytes of all bodies that a load received, pushed ones included, without headers.",
        _of_load(pl.col("body_received_bytes")),
    ),
    Metric("page-pushed-bytes", "bytes", "Bytes of the bodies of pushed responses.", _of_load(pl.col("pushed_bytes"))),
    Metric(
        "page-wasted-bytes",
        "bytes",
        "Of the pushed bytes, those that the load did not use.",
        _of_load(pl.col("wasted_pushed_bytes")),
    ),
)
