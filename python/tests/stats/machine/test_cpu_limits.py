"""Limits on CPU time, summed over a scenario's trials."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from tests.synthetic import write_campaign
from wirelab.metrics.tables import write_table
from wirelab.stats.dataset import Dataset
from wirelab.stats.machine.cpu_limits import cpu_limits

MS = 10**6


def test_a_cpu_limit_is_reported_with_its_periods_and_the_throttled_time(tmp_path: Path) -> None:
    write_campaign(tmp_path, protocols=("raw-tcp",), links=("lossless",), uploads=("30 B",), trials=3, exchanges=10)
    assert cpu_limits(Dataset.read(tmp_path)) == {}
    plan = json.loads((tmp_path / "plan.json").read_text())
    [scenario] = plan["scenarios"]
    scenario["cpu"] = {"client": 0.1}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    path = tmp_path / "trials.parquet"
    values = {"client_quota_periods": 40, "client_throttled_periods": 30, "client_throttled_ns": 90 * MS}
    given = [pl.lit(value, dtype=pl.Int64).alias(name) for name, value in values.items()]
    pl.read_parquet(path).with_columns(given).pipe(write_table, path)
    [found] = cpu_limits(Dataset.read(tmp_path)).values()
    assert found == {"client": {"share": 0.1, "periods": 120, "throttled": 90, "throttled_s": 0.09}}
