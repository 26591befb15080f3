"""Where the bytes of captured scenarios went: the means for each exchange of what `ledger.parquet` counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wirelab.metrics.ledger import LEDGER, PARTS
from wirelab.stats.dataset import Dataset
from wirelab.stats.descriptive import mean_and_sd
from wirelab.stats.sample import Sample

if TYPE_CHECKING:
    import polars as pl

_COUNTED = ("packets", "total", *PARTS)


def ledgers(dataset: Dataset) -> dict[str, dict[str, Any]]:
    """For each captured scenario: how many `exchanges` in how many `trials`, the `total` of both directions for one of
    them with its interval over trials, and for `up` and `down` the mean of each part. `payload` and `headers` make up
    `application`; both are null where that is not known of every trial.
    """
    import polars as pl

    path = dataset.folder / LEDGER
    if not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = {}
    table = pl.read_parquet(path)
    for (scenario, direction), rows in table.group_by("scenario", "direction", maintain_order=True):
        exchanges = int(rows["exchanges"].sum())
        if not exchanges:
            continue
        means = {name: int(rows[name].sum()) / exchanges for name in _COUNTED}
        payload = None if rows["payload"].null_count() else int(rows["payload"].sum()) / exchanges
        headers = None if payload is None else means["application"] - payload
        whole = table.filter(pl.col("scenario") == scenario)
        entry = found.setdefault(str(scenario), {"exchanges": exchanges, **_total(dataset, str(scenario), whole)})
        entry[str(direction)] = {**means, "payload": payload, "headers": headers}
    return found


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
