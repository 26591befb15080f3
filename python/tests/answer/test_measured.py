"""Phases of a measured campaign, a mean for each trial."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.answer.explain import NOT_SPLIT, PHASES, TIMED_OUT
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


def test_each_trial_has_the_means_of_its_exchanges_and_a_time_out_counts_as_such(dataset: Dataset) -> None:
    key = dataset.scenarios[0].key
    found = measured(dataset, {"a digest": key}).trials["a digest"]
    assert sorted(found) == [0, 1, 2]
    rows = dataset.rows(key).filter((pl.col("replicate") == 1) & pl.col("outcome").is_in(["completed", "timed-out"]))
    completed = rows.filter(pl.col("outcome") == "completed")
    parts = found[1].parts
    assert parts["phase_wait_ns"] == pytest.approx(completed["response_time_ns"].sum() / 2 / len(rows) / 1e9)
    assert parts["phase_connect_ns"] == 0.0
    late = (len(rows) - len(completed)) / len(rows)
    assert late > 0
    assert parts[TIMED_OUT] == pytest.approx(late * dataset.horizon_s(key))
    # What a client does not stamp is a part of its own, so that the parts are the whole time.
    whole = (completed["end_ns"] - completed["start_ns"]).sum() / len(rows) / 1e9
    assert found[1].total_s == pytest.approx(whole + parts[TIMED_OUT])
    assert parts[NOT_SPLIT] == pytest.approx(whole - parts["phase_wait_ns"])


def test_cpu_time_counts_in_real_time_and_takes_none_under_the_virtual_clock(dataset: Dataset) -> None:
    key = dataset.scenarios[0].key
    used = pl.DataFrame({
        "client_cpu_ns": 7_000_000, "client_cpu_idle_ns": 2_000_000, "client_throttled_ns": None,
        "server_cpu_ns": 1_000_000, "server_cpu_idle_ns": 0, "server_throttled_ns": 4_000_000,
    })  # fmt: skip
    trials = dataset.trials.drop(used.columns, strict=False).join(used, how="cross")
    live = Dataset(dataset.folder, dataset.plan, dataset.exchanges, trials)
    counts = dict(dataset.rows(key).group_by("replicate").len().iter_rows())
    found = measured(live, {"a digest": key}).trials["a digest"]
    assert found[0].cpu_s == pytest.approx(0.01 / counts[0])
    plan = json.loads((dataset.folder / "plan.json").read_text(encoding="utf-8"))
    for scenario in plan["scenarios"]:
        scenario["clock"] = "virtual"
    (dataset.folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    virtual = Dataset.read(dataset.folder)
    there = measured(Dataset(virtual.folder, virtual.plan, dataset.exchanges, trials), {"a digest": key})
    assert there.trials["a digest"][0].cpu_s == 0.0


def test_without_captures_and_a_radio_nothing_is_said_of_bytes_and_energy(dataset: Dataset) -> None:
    key = dataset.scenarios[0].key
    assert spent(dataset, key) is None
    assert energy(dataset, key) is None
