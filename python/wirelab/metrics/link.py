"""The link's account of itself: what each direction carried, and how late the emulator was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from wirelab.metrics.base import Metric
from wirelab.schema import DropCause, LatenessHistogram, LinkReport

DIRECTIONS = ("up", "down")
CAUSES = {"lost" if cause is DropCause.LOSS else cause.replace("-", "_"): cause.value for cause in DropCause}
"""Columns of dropped packets, with the link's word for the cause."""
COUNTS = ("received", "originated", "duplicated", "delivered", *CAUSES, "held", "received_bytes")

_LATENESS = (
    "Timing error of a trial's packets, both directions: the instant at which a packet was handed to the receiver's "
    "interface minus the instant at which its link said it leaves. This is the error of the emulated delay; of a link "
    "that netem ran, how late packets went into netem. {} of the histogram's bucket edges (steps of 19 %)."
)

METRICS = (
    Metric("lateness-p50", "ns", _LATENESS.format("Median"), pl.col("lateness_p50_ns"), of="trial"),
    Metric("lateness-p99", "ns", _LATENESS.format("99th percentile"), pl.col("lateness_p99_ns"), of="trial"),
    Metric("lateness-max", "ns", "Largest timing error of a trial's packets.", pl.col("lateness_max_ns"), of="trial"),
)


def link_columns(report: LinkReport) -> dict[str, Any]:
    """A trial's `LinkReport` as columns of `trials.parquet`."""
    columns: dict[str, Any] = {}
    for prefix, direction in zip(DIRECTIONS, report.directions, strict=False):
        dropped = {count.cause.value: count.packets for count in direction.dropped}
        counts = {name: dropped.get(CAUSES[name], 0) if name in CAUSES else getattr(direction, name) for name in COUNTS}
        columns |= {f"{prefix}_{name}": count for name, count in counts.items()}
    histograms = [direction.lateness for direction in report.directions]
    return columns | {
        "lateness_p50_ns": lateness_quantile(histograms, 0.50),
        "lateness_p99_ns": lateness_quantile(histograms, 0.99),
        "lateness_max_ns": max((histogram.max_ns for histogram in histograms), default=None),
        "lateness_upper_ns": (buckets := lateness_buckets(histograms))[0],
        "lateness_packets": buckets[1],
        "kernel_drops": report.kernel_drops,
        "oversized": report.oversized,
        "clock_step": report.clock_step,
        "left_out_of_captures": report.left_out_of_captures,
    }


def lateness_buckets(histograms: Sequence[LatenessHistogram]) -> tuple[list[int], list[int]]:
    """Upper edges of the buckets with packets, and the number in each, for several histograms together."""
    largest = max((histogram.max_ns for histogram in histograms), default=0)
    merged: dict[int, int] = {}
    for histogram in histograms:
        for upper, packets in zip(histogram.upper_ns, histogram.packets, strict=True):
            if packets:
                edge = min(upper, largest)
                merged[edge] = merged.get(edge, 0) + packets
    return sorted(merged), [merged[upper] for upper in sorted(merged)]


def lateness_quantile(histograms: Sequence[LatenessHistogram], level: float) -> int | None:
    """The upper edge of the bucket that holds the quantile, at most the largest value seen; null without packets."""
    uppers, packets = lateness_buckets(histograms)
    seen = 0
    for upper, count in zip(uppers, packets, strict=True):
        seen += count
        if seen >= level * sum(packets):
            return upper
    return None


def mean_lateness_ns(histograms: Sequence[LatenessHistogram]) -> float | None:
    """The mean by the buckets' upper edges, so rather too much than too little; null without packets."""
    uppers, packets = lateness_buckets(histograms)
    total = sum(upper * count for upper, count in zip(uppers, packets, strict=True))
    return total / sum(packets) if packets else None
