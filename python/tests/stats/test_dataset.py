"""A campaign's tables as samples."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.errors import WirelabError
from wirelab.metrics.tables import write_table
from wirelab.stats.dataset import Dataset, Measured


def _written(folder: Path, **more: float) -> Path:
    return write_campaign(
        folder,
        protocols=("h2",),
        links=("random",),
        uploads=("30 B",),
        trials=4,
        exchanges=10,
        **more,  # type: ignore[arg-type]
    )


def _measured(folder: Path) -> dict[str, Measured]:
    dataset = Dataset.read(folder)
    return {one.metric.name: one for one in dataset.measured(dataset.scenarios[0].key)}


def test_values_come_trial_by_trial_in_base_units(tmp_path: Path) -> None:
    folder = _written(tmp_path)
    delay = _measured(folder)["end-to-end-delay"]
    assert delay.unit == "s"
    assert [len(trial) for trial in delay.sample.trials] == [10] * 4
    first = pl.read_parquet(folder / "exchanges.parquet").filter(pl.col("replicate") == 0)["end_to_end_delay_ns"]
    assert delay.sample.trials[0] == pytest.approx(first.to_numpy() / 1e9)


def test_a_timed_out_exchange_is_censored_in_its_trial_for_delays_alone(tmp_path: Path) -> None:
    folder = _written(tmp_path, timed_out=0.5)
    exchanges = pl.read_parquet(folder / "exchanges.parquet").sort("replicate")
    late = exchanges.group_by("replicate", maintain_order=True).agg((pl.col("outcome") == "timed-out").sum())["outcome"]
    measured = _measured(folder)
    assert measured["end-to-end-delay"].sample.censored == tuple(late)
    assert measured["wire-up-packets"].sample.censored == (0,) * 4


def test_a_delays_undisturbed_sample_lacks_the_exchanges_that_the_emulator_disturbed(tmp_path: Path) -> None:
    folder = _written(tmp_path, timed_out=0.5)
    assert _measured(folder)["end-to-end-delay"].undisturbed is None
    exchanges = pl.read_parquet(folder / "exchanges.parquet")
    late = (pl.col("replicate") == 1).alias("disturbed")
    exchanges.with_columns(late).pipe(write_table, folder / "exchanges.parquet")
    measured = _measured(folder)
    every, calm = measured["end-to-end-delay"].sample, measured["end-to-end-delay"].undisturbed
    assert calm is not None
    assert [len(trial) for trial in calm.trials] == [len(t) * (at != 1) for at, t in enumerate(every.trials)]
    assert calm.censored == tuple(count * (at != 1) for at, count in enumerate(every.censored))
    assert measured["wire-up-packets"].undisturbed is None


def test_a_metric_that_no_completed_exchange_has_is_not_one_of_time_outs(tmp_path: Path) -> None:
    folder = _written(tmp_path, timed_out=0.5)
    table = pl.read_parquet(folder / "exchanges.parquet").with_columns(response_time_ns=pl.lit(None, dtype=pl.Int64))
    table.pipe(write_table, folder / "exchanges.parquet")
    assert "response-time" not in _measured(folder)


def test_values_unknown_by_timeouts_are_counted_unless_censored(tmp_path: Path) -> None:
    folder = _written(tmp_path, timed_out=0.4)
    rows = pl.read_parquet(folder / "exchanges.parquet")
    first = (rows["replicate"] == 0) & (rows["outcome"] == "completed")
    one_a_trial = pl.when(first & (pl.col("index") == rows.filter(first)["index"].min())).then(1e6)
    rows.with_columns(one_a_trial.alias("throughput_bps")).pipe(write_table, folder / "exchanges.parquet")
    late = int((rows["outcome"] == "timed-out").sum())
    samples = {name: measured.sample for name, measured in _measured(folder).items()}
    assert (samples["end-to-end-delay"].unknown, sum(samples["end-to-end-delay"].censored)) == (0, late)
    assert samples["wire-up-packets"].unknown == late
    assert samples["wire-up-packets"].unknown_share == pytest.approx(late / 40)
    assert (samples["throughput"].n, samples["throughput"].unknown) == (1, 3)


def test_a_random_generator_depends_only_on_its_names(tmp_path: Path) -> None:
    dataset = Dataset.read(_written(tmp_path))
    assert dataset.rng("a", "b").random() == dataset.rng("a", "b").random()
    assert dataset.rng("a", "b").random() != dataset.rng("ab", "").random()


def test_resource_use_has_one_value_for_each_finished_trial(tmp_path: Path) -> None:
    folder = _written(tmp_path)
    table = pl.read_parquet(folder / "trials.parquet")
    used = [{"client_cpu_ns": 50_000_000 * (each + 1), "client_cpu_idle_ns": 10_000_000} for each in range(len(table))]
    failed = pl.when(pl.col("replicate") == 3).then(pl.lit("failed")).otherwise(pl.col("status")).alias("status")
    table.with_columns(failed, exchanges_ns=pl.lit(100_000_000, pl.Int64), **pl.DataFrame(used).to_dict()).pipe(
        write_table, folder / "trials.parquet"
    )
    measured = _measured(folder)
    assert measured["client-cpu"].unit == "s"
    assert [len(trial) for trial in measured["client-cpu"].sample.trials] == [1, 1, 1]
    assert measured["client-cpu"].sample.values == pytest.approx([0.05, 0.1, 0.15])
    assert measured["client-cpu-work"].sample.values == pytest.approx([0.04, 0.09, 0.14])
    assert measured["client-utilisation"].sample.values == pytest.approx([0.4, 0.9, 1.4])
    assert measured["client-cpu"].hit is None
    assert "server-cpu" not in measured


@pytest.mark.parametrize("missing", ["words", "uplink"])
def test_facts_of_another_version_are_one_error_with_the_file_and_the_key(tmp_path: Path, missing: str) -> None:
    folder = _written(tmp_path)
    plan = json.loads((folder / "plan.json").read_text())
    for facts in plan["link_facts"].values():
        del facts[missing]
    (folder / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(WirelabError) as raised:
        Dataset.read(folder)
    key = next(iter(plan["link_facts"]))
    assert raised.value.what.startswith(f"{folder / 'plan.json'} was written by another build, or damaged: ")
    assert f"it has no link_facts.{key}.{missing}" in raised.value.what
