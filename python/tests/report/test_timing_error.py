"""A trial's timing error in a row of bars."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tests.report.campaigns import write
from wirelab.metrics.tables import write_table
from wirelab.report.campaign import load
from wirelab.report.figures.timing_error import bars
from wirelab.report.sections import trials


def test_each_bar_stands_at_its_timing_error_and_rare_packets_stay_visible() -> None:
    assert bars([900, 5_000], [9_999, 1]) == "█·▁·······"
    assert bars([1_000, 1_001], [50, 50]) == "▇▇········"
    assert bars([20_000_000], [3]) == "·········█"


def test_a_trial_without_delivered_packets_has_a_dash(tmp_path: Path) -> None:
    folder = write(tmp_path)
    campaign = load(folder, folder)
    names = [trial.name for trials in campaign.trials.values() for trial in trials]
    path = folder / "trials.parquet"
    late = {name: ([2_000], [80]) for name in names[1:]} | {names[0]: ([], [])}
    rows = [{"trial": name, "lateness_upper_ns": late[name][0], "lateness_packets": late[name][1]} for name in names]
    columns = pl.DataFrame(rows, schema_overrides={"lateness_upper_ns": pl.List(pl.Int64)})
    pl.read_parquet(path).join(columns, on="trial", how="left").pipe(write_table, path)
    said = str(trials.section(load(folder, folder)))
    assert "·█········" in said
    assert "80 packets, the latest 2.00 µs" in said
    assert "no packet delivered" in said
