"""The throughput of background traffic during a trial, from the reports of its ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from wirelab.metrics.base import Metric
from wirelab.schema.campaign import traffic_folder, traffic_server_folder
from wirelab.schema.plan import Scenario

METRICS = (
    Metric(
        "background",
        "bps",
        "Payload bits a second that background traffic delivered to either end while a trial ran; of pings the replies "
        "count.",
        pl.col("background_bps"),
        of="trial",
    ),
)


def background_bps(folder: Path, scenario: Scenario) -> int | None:
    """Payload bits a second that arrived at either end, over all background traffic of a trial; none without any.

    Of pings the replies count. The time is that of the process where they begin: from before the first
    flow to the trial's end.
    """
    rates = [_rate(folder, each.name) for each in scenario.traffic]
    known = [rate for rate in rates if rate is not None]
    return round(sum(known)) if known and len(known) == len(rates) else None


def _rate(folder: Path, name: str) -> float | None:
    reports = [_report(folder / each) for each in (traffic_folder(name), traffic_server_folder(name))]
    source = reports[0]
    if source is None or source["end_ns"] <= source["begin_ns"]:
        return None
    received = sum(flow["received_bytes"] for report in reports if report is not None for flow in report["flows"])
    return float(8e9 * received / (source["end_ns"] - source["begin_ns"]))


def _report(folder: Path) -> dict[str, Any] | None:
    """The last line that an end printed; none if it was killed before."""
    path = folder / "stdout.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    try:
        report: Any = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return report if isinstance(report, dict) and "flows" in report else None
