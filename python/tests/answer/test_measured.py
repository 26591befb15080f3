"""Phases of a measured campaign, a mean for each trial."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.answer.explain import CPU, PHASES
from wirelab.answer.measured import energy, measured, spent
from wirelab.stats.dataset import Dataset


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    write_campaign(
        tmp_path, protocols=("h2",), links=("random",), uploads=("30 B",), trials=3, exchanges=10, timed_out=0.2,
    )  # fmt: skip
    found = Dataset.read(tmp_path)
    share = {name: pl.col("response_time_ns") / 2 if "wait_ns" in name else None for name in PHASES}
    return Dataset(found.folder, found.plan, found.exchanges.with_columns(**share), found.trials)


def test_each_trial_has_the_means_of_its_completed_exchanges(dataset: Dataset) -> None:
    key = dataset.scenarios[0].key
    found = measured(dataset, {"a digest": key}).trials["a digest"]
    assert sorted(found) == [0, 1, 2]
    completed = dataset.exchanges.filter((pl.col("outcome") == "completed") & (pl.col("replicate") == 1))
    response_s = completed["response_time_ns"].sum() / len(completed) / 1e9
    assert found[1]["phase_wait_ns"] == pytest.approx(response_s / 2)
    assert found[1]["phase_connect_ns"] == 0.0


def test_cpu_time_counts_in_real_time_and_takes_none_under_the_virtual_clock(dataset: Dataset) -> None:
    key = dataset.scenarios[0].key
    used = pl.DataFrame({
        "client_cpu_ns": 7_000_000, "client_cpu_idle_ns": 2_000_000, "client_throttled_ns": None,
        "server_cpu_ns": 1_000_000, "server_cpu_idle_ns": 0, "server_throttled_ns": 4_000_000,
    })  # fmt: skip
    trials = dataset.trials.drop(used.columns, strict=False).join(used, how="cross")
    live = Dataset(dataset.folder, dataset.plan, dataset.exchanges, trials)
    completed = dataset.exchanges.filter(pl.col("outcome") == "completed").group_by("replicate").len()
    counts = dict(completed.iter_rows())
    found = measured(live, {"a digest": key}).trials["a digest"]
    assert found[0][CPU] == pytest.approx(0.01 / counts[0])
    plan = json.loads((dataset.folder / "plan.json").read_text(encoding="utf-8"))
    for scenario in plan["scenarios"]:
        scenario["clock"] = "virtual"
    (dataset.folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    virtual = Dataset.read(dataset.folder)
    there = measured(Dataset(virtual.folder, virtual.plan, dataset.exchanges, trials), {"a digest": key})
    assert there.trials["a digest"][0][CPU] == 0.0


def test_without_captures_and_a_radio_nothing_is_said_of_bytes_and_energy(dataset: Dataset) -> None:
    key = dataset.scenarios[0].key
    assert spent(dataset, key) is None
    assert energy(dataset, key) is None
