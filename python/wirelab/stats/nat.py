"""What clients did when the NAT had forgotten their mapping: counts of `nat.parquet` by scenario."""

from __future__ import annotations

from wirelab.metrics.nat import COLUMNS, NAT
from wirelab.metrics.tables import read_table
from wirelab.schema.estimates import RESPONSES, NatRecord
from wirelab.stats.dataset import Dataset


def nat_responses(dataset: Dataset) -> dict[str, NatRecord]:
    """For each scenario whose link translates addresses."""
    import polars as pl

    path = dataset.folder / NAT
    if not path.exists():
        return {}
    table = read_table(path, types=COLUMNS)
    found: dict[str, NatRecord] = {}
    for scenario in dataset.scenarios:
        if scenario.link.nat is None:
            continue
        mine = table.filter(pl.col("scenario") == scenario.key)
        treatments, responses = mine["treatment"].to_list(), mine["response"].to_list()
        found[scenario.key] = {
            "forgotten": len(mine),
            "new_end": treatments.count("new-end"),
            "dropped": treatments.count("dropped"),
            "reset": treatments.count("reset"),
            "not_completed": int(mine["not_completed"].sum()),
            "responses": {each: responses.count(each) for each in RESPONSES},
        }
    return found
