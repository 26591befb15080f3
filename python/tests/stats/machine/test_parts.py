"""How much the parts of a merged campaign differ."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.metrics.tables import write_table
from wirelab.schema.estimates import PartRecord
from wirelab.stats.analyze import analyze
from wirelab.stats.dataset import Dataset
from wirelab.stats.machine.parts import PART, _ratio, part_notes, part_records

DELAY = "end-to-end-delay"
TRIALS = 10
REPEATS = 400


def campaign(folder: Path, slower: float, seed: int = 1, noise: float = 0.01, parts: int = 2) -> Dataset:
    """Replicates are dealt out to parts in turn; the last part's delays are `slower` times as long."""
    write_campaign(
        folder, protocols=("http1", "h2"), links=("lossless",), uploads=("30 B",), trials=TRIALS, exchanges=20
    )
    rng = np.random.default_rng(seed)
    shared = rng.lognormal(0, noise, TRIALS)
    trials, exchanges = (pl.read_parquet(folder / f"{name}.parquet") for name in ("trials", "exchanges"))
    part = (pl.col("replicate") % parts + 1).alias(PART)
    machine = pl.when(pl.col("replicate") % parts == parts - 1).then(slower).otherwise(1.0)
    base = pl.when(pl.col("scenario") == exchanges["scenario"][0]).then(20e6).otherwise(50e6)
    delay = (base * machine * pl.col("replicate").replace_strict(dict(enumerate(shared)))).cast(pl.Int64)
    write_table(trials.with_columns(part), folder / "trials.parquet")
    write_table(exchanges.with_columns(end_to_end_delay_ns=delay), folder / "exchanges.parquet")
    return Dataset.read(folder)


def records_of(dataset: Dataset) -> list[dict[str, float | None]]:
    measured = [
        (each.key, one)
        for each in dataset.scenarios for one in dataset.measured(each.key) if one.metric.name == DELAY
    ]  # fmt: skip
    return [{"part": each["part"], **each["ratio"]} for each in part_records(dataset, measured)]  # type: ignore[dict-item]


def test_a_machine_that_is_slower_is_found_with_its_ratio(tmp_path: Path) -> None:
    first, second = records_of(campaign(tmp_path, 1.21))
    assert (first["part"], second["part"]) == (1, 2)
    # The mean of all is geometric: 1.1 times the faster one.
    assert first["point"] == pytest.approx(1 / 1.1, rel=0.01)
    assert second["point"] == pytest.approx(1.1, rel=0.01)
    assert second["low"] is not None and second["low"] > 1
    assert (first["n"], second["n"]) == (TRIALS // 2, TRIALS // 2)


def test_machines_that_surely_differ_have_a_note(tmp_path: Path) -> None:
    campaign(tmp_path / "apart", 1.21)
    campaign(tmp_path / "alike", 1.0)
    apart, alike = (analyze(tmp_path / name) for name in ("apart", "alike"))
    assert [each["trials"] for each in apart["parts"]] == [TRIALS, TRIALS]
    [note] = [each for each in apart["notes"] if each.startswith("Parts differ: the end to end delay of part ")]
    assert " times the mean of 2 parts. " in note
    assert not [each for each in alike["notes"] if "Parts differ" in each]
    assert "parts" in alike


def test_a_campaign_that_was_not_merged_says_nothing_of_parts(tmp_path: Path) -> None:
    write_campaign(tmp_path, protocols=("http1",), links=("lossless",), uploads=("30 B",), trials=3, exchanges=5)
    estimates = analyze(tmp_path)
    assert "parts" not in estimates


def test_a_part_of_one_block_has_no_interval(tmp_path: Path) -> None:
    dataset = campaign(tmp_path, 1.0, parts=TRIALS)
    found = records_of(dataset)
    assert len(found) == TRIALS
    assert {(each["low"], each["method"]) for each in found} == {(None, "no interval: a part has one block")}
    assert list(part_notes(part_records(dataset, []), DELAY)) == []


@pytest.mark.parametrize(
    ("blocks", "spreads"),
    [
        ((5, 5), (0.02, 0.02)), ((5, 5), (0.002, 0.02)), ((10, 10), (0.002, 0.02)), ((20, 3), (0.02, 0.02)),
        ((5, 5, 5, 5), (0.02, 0.02, 0.02, 0.02)), ((6, 5, 5), (0.002, 0.02, 0.01)),
    ],
)  # fmt: skip
def test_parts_that_are_alike_are_seldom_called_different(blocks: tuple[int, ...], spreads: tuple[float, ...]) -> None:
    """By their blocks alone: 5 % at most, of all parts together, however quiet one machine is."""
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(REPEATS):
        by_part = {
            part: rng.normal(0, spread, count).tolist()
            for part, (count, spread) in enumerate(zip(blocks, spreads, strict=True), 1)
        }
        records = [PartRecord(part=part, trials=1, ratio=_ratio(by_part, part).record()) for part in by_part]
        wrong += bool(list(part_notes(records, DELAY)))
    # Three standard errors above 5 %, for there are six of these.
    assert wrong / REPEATS <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / REPEATS)


def test_a_scenario_that_a_part_lacks_biases_no_ratio() -> None:
    by_part = {1: [0.0, 0.01], 2: [0.0, -0.01], 3: [math.log(2), math.log(2) + 0.01]}
    points = [_ratio(by_part, part).point for part in by_part]
    assert math.prod(point for point in points if point is not None) == pytest.approx(1)


def test_a_scenario_without_values_in_every_block_is_left_out(tmp_path: Path) -> None:
    """What times out in one part alone would make it seem faster."""
    dataset = campaign(tmp_path, 1.0)
    key = dataset.scenarios[0].key
    last = (pl.col("scenario") == key) & (pl.col("replicate") % 2 == 1)
    rows = dataset.exchanges.with_columns(
        end_to_end_delay_ns=pl.when(last).then(None).otherwise("end_to_end_delay_ns"),
        outcome=pl.when(last).then(pl.lit("failed")).otherwise("outcome"),
    )
    found = records_of(replace(dataset, exchanges=rows))
    assert [each["point"] for each in found] == [pytest.approx(1, rel=0.02)] * 2


def test_one_part_is_compared_with_nothing(tmp_path: Path) -> None:
    dataset = campaign(tmp_path, 1.0, parts=1)
    assert records_of(dataset) == []
