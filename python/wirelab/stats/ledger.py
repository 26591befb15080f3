"""Where the bytes of captured scenarios went: the means for each exchange of what `ledger.parquet` counts."""

from __future__ import annotations

from typing import Any

from wirelab.metrics.ledger import LEDGER, PARTS
from wirelab.stats.dataset import Dataset

_COUNTED = ("packets", "total", *PARTS)


def ledgers(dataset: Dataset) -> dict[str, dict[str, Any]]:
    """For each captured scenario: how many `exchanges`, and for `up` and `down` the mean of each part for one of them.
    `payload` and `headers` make up `application`; both are null where that is not known of every trial.
    """
    import polars as pl

    path = dataset.folder / LEDGER
    if not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = {}
    for (scenario, direction), rows in pl.read_parquet(path).group_by("scenario", "direction", maintain_order=True):
        exchanges = int(rows["exchanges"].sum())
        if not exchanges:
            continue
        means = {name: int(rows[name].sum()) / exchanges for name in _COUNTED}
        payload = None if rows["payload"].null_count() else int(rows["payload"].sum()) / exchanges
        headers = None if payload is None else means["application"] - payload
        entry = found.setdefault(str(scenario), {"exchanges": exchanges})
        entry[str(direction)] = {**means, "payload": payload, "headers": headers}
    return found
