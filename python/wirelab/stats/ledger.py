"""The bytes of captured scenarios by purpose: means over exchanges of `ledger.parquet`, and for a day of messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wirelab.metrics.ledger import COLUMNS, LEDGER, PARTS
from wirelab.metrics.tables import read_table
from wirelab.schema.estimates import SPENT, Day, EstimateRecord, LedgerRecord, Spent
from wirelab.stats.dataset import Dataset
from wirelab.stats.estimate.descriptive import mean_and_sd
from wirelab.stats.estimate.sample import Sample

if TYPE_CHECKING:
    import polars as pl

DAY_S = 86_400.0
ASSUMED_INTERVAL_S = 900.0
"""Between messages of a day where exchanges follow one another."""
SET_UP = ("connection", "handshake")
"""The parts that a connection needs once for any number of messages."""


def ledgers(dataset: Dataset) -> dict[str, LedgerRecord]:
    """For each captured scenario: how many `exchanges` in how many `trials`, the `total` of both directions for one of
    them with its interval over trials, for `up` and `down` the mean of each part, and a `day`. `payload` and `headers`
    make up `application`; both are null where that is not known of every trial. `link_layer` is beyond the total, null
    of a link without frames.
    """
    import polars as pl

    path = dataset.folder / LEDGER
    if not path.exists():
        return {}
    found: dict[str, LedgerRecord] = {}
    table = read_table(path, types=COLUMNS)
    for (scenario, direction), rows in table.group_by("scenario", "direction", maintain_order=True):
        exchanges = int(rows["exchanges"].sum())
        if not exchanges:
            continue
        key = str(scenario)
        if key not in found:
            trials, total = _total(dataset, key, table.filter(pl.col("scenario") == scenario))
            found[key] = {"exchanges": exchanges, "trials": trials, "total": total, "connections": 0}
        found[key]["up" if direction == "up" else "down"] = _spent(rows, exchanges)
        found[key]["connections"] = int(rows["connections"].sum())
    for scenario in dataset.scenarios:
        if scenario.key in found:
            entry, gap_ns = found[scenario.key], scenario.workload.gap_ns
            entry["day"] = _day(entry, None if gap_ns is None else gap_ns / 1e9)
    return found


def _spent(rows: pl.DataFrame, exchanges: int) -> Spent:
    """Means of one direction."""

    def mean(name: str) -> float:
        return int(rows[name].sum()) / exchanges

    payload, link_layer = (None if rows[name].null_count() else mean(name) for name in ("payload", "link_layer"))
    application = mean("application")
    return {
        "packets": mean("packets"), "total": mean("total"), "ip": mean("ip"), "transport": mean("transport"),
        "connection": mean("connection"), "acknowledgements": mean("acknowledgements"),
        "retransmitted": mean("retransmitted"), "handshake": mean("handshake"), "protection": mean("protection"),
        "application": application,
        "sealed": mean("sealed"), "other": mean("other"), "payload": payload,
        "headers": None if payload is None else application - payload, "link_layer": link_layer,
    }  # fmt: skip


def _day(entry: LedgerRecord, interval_s: float | None) -> Day:
    """Bytes of both directions of a day: `parts` of as many `messages` as the interval makes. Of a connection that
    carries several, what sets it up counts once. What keeps it alive is in the trial's bytes if the messages have a
    time between them.
    """
    messages = DAY_S / (interval_s or ASSUMED_INTERVAL_S)
    exchanges, connections = entry["exchanges"], entry["connections"]
    kept = 0 < connections < exchanges
    ways = [way for way in (entry.get("up"), entry.get("down")) if way is not None]
    parts: dict[str, float | None] = {}
    for part in SPENT:
        values = [way[part] for way in ways]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            parts[part] = None
        else:
            each = float(sum(known))
            parts[part] = each * exchanges / connections if kept and part in SET_UP else each * messages
    counted = [name for name in PARTS if parts.get(name) is not None]
    parts["total"] = sum(parts[name] or 0.0 for name in counted)
    return {
        "interval_s": interval_s or ASSUMED_INTERVAL_S, "assumed": interval_s is None, "messages": messages,
        "one_connection": kept, "parts": parts,
    }  # fmt: skip


def _total(dataset: Dataset, scenario: str, rows: pl.DataFrame) -> tuple[int, EstimateRecord]:
    """Its exchanges share a trial's bytes equally, so that all spread is between trials."""
    import polars as pl

    trials = rows.group_by("trial", maintain_order=True).agg(pl.col("total").sum(), pl.col("exchanges").max())
    counted = trials.filter(pl.col("exchanges") > 0)
    shares = [[total / exchanges] * exchanges for _, total, exchanges in counted.iter_rows()]
    mean, _ = mean_and_sd(Sample.of(shares), dataset.rng(scenario, "ledger"))
    if len(shares) < 2:
        mean = replace(mean, low=None, high=None, method="no interval: one trial")
    return len(shares), mean.record()
