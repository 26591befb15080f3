"""Where the bytes of captured scenarios went: the means for each exchange of what `ledger.parquet` counts, and what a
day of messages makes of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wirelab.metrics.ledger import LEDGER, PARTS
from wirelab.metrics.tables import read_table
from wirelab.stats.dataset import Dataset
from wirelab.stats.estimate.descriptive import mean_and_sd
from wirelab.stats.estimate.sample import Sample

if TYPE_CHECKING:
    import polars as pl

_COUNTED = ("packets", "total", *PARTS)
DAY_S = 86_400.0
ASSUMED_INTERVAL_S = 900.0
"""Between messages of a day where neither `[energy]` nor the arrival process says."""
SET_UP = ("connection", "handshake")
"""What a connection costs once, however many messages it carries."""


def ledgers(dataset: Dataset) -> dict[str, dict[str, Any]]:
    """For each captured scenario: how many `exchanges` in how many `trials`, the `total` of both directions for one of
    them with its interval over trials, for `up` and `down` the mean of each part, and a `day`. `payload` and `headers`
    make up `application`; both are null where that is not known of every trial. `link_layer` is beyond the total, null
    of a link without frames.
    """
    import polars as pl

    path = dataset.folder / LEDGER
    if not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = {}
    table = read_table(path)
    for (scenario, direction), rows in table.group_by("scenario", "direction", maintain_order=True):
        exchanges = int(rows["exchanges"].sum())
        if not exchanges:
            continue
        means = {name: int(rows[name].sum()) / exchanges for name in _COUNTED}
        payload, link_layer = (
            None if rows[name].null_count() else int(rows[name].sum()) / exchanges for name in ("payload", "link_layer")
        )
        headers = None if payload is None else means["application"] - payload
        whole = table.filter(pl.col("scenario") == scenario)
        entry = found.setdefault(str(scenario), {"exchanges": exchanges, **_total(dataset, str(scenario), whole)})
        entry[str(direction)] = {**means, "payload": payload, "headers": headers, "link_layer": link_layer}
        entry["connections"] = int(rows["connections"].sum())
    for scenario in dataset.scenarios:
        if scenario["key"] in found:
            told = (dataset.plan["experiment"].get("energy") or {}).get("interval_ns")
            entry = found[scenario["key"]]
            entry["day"] = _day(entry, told / 1e9 if told else _arrival_s(scenario["workload"]))
    return found


def _arrival_s(workload: Mapping[str, Any]) -> float | None:
    """Mean time between a client's exchanges; None of a closed loop."""
    arrival = workload.get("arrival") or {}
    rate = arrival.get("rate_hz") or workload.get("rate_hz")
    return None if rate is None else 1.0 / float(rate)


def _day(entry: Mapping[str, Any], interval_s: float | None) -> dict[str, Any]:
    """Bytes of both directions of a day: `parts` of as many `messages` as the interval makes. Of a connection that
    carries several, what sets it up counts once, and nothing that would keep it alive.
    """
    messages = DAY_S / (interval_s or ASSUMED_INTERVAL_S)
    exchanges, connections = entry["exchanges"], entry["connections"]
    kept = 0 < connections < exchanges
    ways = [entry[way] for way in ("up", "down") if way in entry]
    parts: dict[str, float | None] = {}
    for part in ways[0]:
        if None in (values := [way[part] for way in ways]):
            parts[part] = None
        else:
            each = float(sum(values))
            parts[part] = each * exchanges / connections if kept and part in SET_UP else each * messages
    counted = [name for name in PARTS if parts.get(name) is not None]
    parts["total"] = sum(parts[name] or 0.0 for name in counted)
    return {
        "interval_s": interval_s or ASSUMED_INTERVAL_S, "assumed": interval_s is None, "messages": messages,
        "one_connection": kept, "parts": parts,
    }  # fmt: skip


def _total(dataset: Dataset, scenario: str, rows: pl.DataFrame) -> dict[str, Any]:
    """Its exchanges share a trial's bytes equally, so that all spread is between trials."""
    import polars as pl

    trials = rows.group_by("trial", maintain_order=True).agg(pl.col("total").sum(), pl.col("exchanges").max())
    counted = trials.filter(pl.col("exchanges") > 0)
    shares = [[total / exchanges] * exchanges for _, total, exchanges in counted.iter_rows()]
    mean, _ = mean_and_sd(Sample.of(shares), dataset.rng(scenario, "ledger"))
    if len(shares) < 2:
        mean = replace(mean, low=None, high=None, method="no interval: one trial")
    return {"trials": len(shares), "total": mean.as_dict()}
