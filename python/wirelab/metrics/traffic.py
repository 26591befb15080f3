"""The throughput of background traffic during a trial, from the reports of its ends."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from pydantic import ValidationError

from wirelab.metrics.base import Metric
from wirelab.schema.base import Received, Unsigned
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


class _Flow(Received):
    """One flow of an end."""

    received_bytes: Unsigned


class _Report(Received):
    """What an end printed last."""

    begin_ns: Unsigned
    end_ns: Unsigned
    flows: tuple[_Flow, ...]


def _rate(folder: Path, name: str) -> float | None:
    reports = [_report(folder / each) for each in (traffic_folder(name), traffic_server_folder(name))]
    source = reports[0]
    if source is None or source.end_ns <= source.begin_ns:
        return None
    received = sum(flow.received_bytes for report in reports if report is not None for flow in report.flows)
    return float(8e9 * received / (source.end_ns - source.begin_ns))


def _report(folder: Path) -> _Report | None:
    """The last line that an end printed; none if it was killed before."""
    path = folder / "stdout.txt"
    lines = path.read_bytes().splitlines() if path.is_file() else []
    try:
        return _Report.model_validate_json(lines[-1]) if lines else None
    except ValidationError:
        return None
