"""What background traffic carried, by scenario."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.metrics.tables import write_table
from wirelab.stats.dataset import Dataset
from wirelab.stats.link.background import background


def test_the_mean_is_over_trials_that_count_and_only_of_scenarios_with_traffic(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, protocols=("http1", "h2"), links=("lossless",), uploads=("30 B",), trials=6)
    assert background(Dataset.read(folder)) == {}
    plan = json.loads((folder / "plan.json").read_text())
    loaded, _ = plan["scenarios"]
    loaded["traffic"] = [
        {"name": "bulk", "kind": "bulk", "source": "a", "to": "b", "flows": 5, "direction": "upload", "stagger_ns": 0}
    ]
    (folder / "plan.json").write_text(json.dumps(plan))
    trials = pl.read_parquet(folder / "trials.parquet")
    rate = pl.when(pl.col("replicate") < 5).then(1_000_000 + 1000 * pl.col("replicate"))
    excluded = pl.col("replicate") == 4
    trials.with_columns(rate.alias("background_bps"), excluded.alias("excluded")).pipe(
        write_table, folder / "trials.parquet"
    )
    [(key, met)] = background(Dataset.read(folder)).items()
    assert key == loaded["key"]
    assert (met["n"], met["point"]) == (4, pytest.approx(1_001_500))
    assert met["low"] < 1_001_500 < met["high"]
    assert met["low"] > 990_000
