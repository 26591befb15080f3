"""Every table that `measure` and `analyze` write: what a row is, and each column's type, unit and meaning.

Columns follow the types with which the tables are written, metrics, and rows of the data plane. Computes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from wirelab.metrics import (
    dataset,
    exchange_rows,
    ledger,
    nat,
    outages,
    probes,
    radio,
    resource_timings,
    settings_seen,
    trial_rows,
)
from wirelab.metrics.base import Metric
from wirelab.metrics.levels import PROTOCOL
from wirelab.metrics.registry import EXCHANGE_METRICS, TRIAL_METRICS
from wirelab.metrics.texts import COLUMNS, TABLES
from wirelab.schema.generated import generated

UNITS = {
    "ns": "ns", "bytes": "bytes", "bps": "bit/s", "j": "J", "packets": "packets", "s": "s", "cpus": "CPUs",
    "switches": "switches", "low": "J", "high": "J", "typical": "J",
}  # fmt: skip
"""A column's unit by the ending of its name, or by its metric's unit."""
_ROWS = (
    "exchange", "exchange-request", "exchange-message", "exchange-page", "resource-timing", "ledger", "settings-seen",
    "dissected-packet",
)  # fmt: skip
"""Schemas of rows that the data plane writes."""
_WORDS = {pl.String: "text", pl.Boolean: "boolean", pl.Float64: "float"}


class Column(NamedTuple):
    """One column. `unit` is empty for counts, words and the like."""

    name: str
    kind: str
    unit: str
    about: str


class Table(NamedTuple):
    """One table: its file, what a row of it is, and its columns in order."""

    file: str
    about: str
    columns: tuple[Column, ...]


def tables() -> tuple[Table, ...]:
    """All of them."""
    added, merged = {"download_bytes": pl.Int64, "disturbed": pl.Boolean}, {"part": pl.Int64}
    exchanges: dict[str, Any] = {**exchange_rows.TRIAL_KEYS, **exchange_rows.EXCHANGE_TYPES, **added}
    # Behind it stand the levels, which depend on the experiment.
    named = {"trial": pl.String, "scenario": pl.String, PROTOCOL: pl.String}
    resources = {**exchange_rows.TRIAL_KEYS, **resource_timings.COLUMNS}
    found = {
        dataset.EXCHANGES: ({**named, **exchanges, **merged}, EXCHANGE_METRICS),
        dataset.TRIAL_TABLE: ({**named, **trial_rows.TRIAL_TYPES, **merged}, TRIAL_METRICS),
        resource_timings.RESOURCES: (resources, ()),
        ledger.LEDGER: (ledger.COLUMNS, ()),
        settings_seen.SETTINGS_SEEN: (settings_seen.COLUMNS, ()),
        nat.NAT: (nat.COLUMNS, ()),
        outages.OUTAGES: (outages.COLUMNS, ()),
        radio.STATES: (radio.STATE_TYPES, ()),
        probes.PACKETS: (probes.PACKET_TYPES, ()),
    }
    return tuple(
        Table(file, TABLES[file], tuple(_columns(file, types, metrics))) for file, (types, metrics) in found.items()
    )


def _columns(file: str, types: Mapping[str, Any], metrics: tuple[Metric, ...]) -> Iterator[Column]:
    by_column = {metric.column: metric for metric in metrics}
    for name, kind in types.items():
        metric = by_column.get(name)
        about = COLUMNS.get(f"{file}:{name}") or (metric.about if metric else COLUMNS.get(name) or _row_text(name))
        unit = UNITS.get(metric.unit if metric else name.rpartition("_")[2], "")
        yield Column(name, _kind(kind), unit if kind not in _WORDS or kind is pl.Float64 else "", about)
    for name, metric in by_column.items():
        # What is computed from other columns of a trial has none of its own.
        if name not in types and metric.of == "exchange":
            yield Column(name, "number", UNITS.get(metric.unit, metric.unit), metric.about)


def _kind(kind: Any) -> str:
    if isinstance(kind, pl.List):
        return "list of integers"
    return _WORDS.get(kind, "integer")


def _row_text(name: str) -> str:
    """What the data plane says of a column of its rows; empty for one that it does not have."""
    for row in _ROWS:
        schema = json.loads(generated(f"{row}.json"))
        for each in (schema, *schema.get("$defs", {}).values()):
            text = each.get("properties", {}).get(name, {}).get("description")
            if text:
                return " ".join(str(text).split()).replace("[`", "`").replace("`](crate::Exchange)", "`")
    return ""
