"""How much the machines of a merged campaign differ."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.metrics.tables import write_table
from wirelab.stats.analyze import analyze
from wirelab.stats.dataset import Dataset
from wirelab.stats.machine.parts import PART, part_notes, part_records

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
    [note] = [each for each in apart["notes"] if each.startswith("Machines differ: the end to end delay of part ")]
    assert " times the mean of 2 parts. " in note
    assert not [each for each in alike["notes"] if "Machines" in each]
    assert "parts" in alike


def test_a_campaign_that_was_not_merged_says_nothing_of_parts(tmp_path: Path) -> None:
    write_campaign(tmp_path, protocols=("http1",), links=("lossless",), uploads=("30 B",), trials=3, exchanges=5)
    estimates = analyze(tmp_path)
    assert "parts" not in estimates


def test_a_part_of_one_block_has_no_interval(tmp_path: Path) -> None:
    dataset = campaign(tmp_path, 1.0, parts=TRIALS)
    found = records_of(dataset)
    assert len(found) == TRIALS
    assert {(each["low"], each["method"]) for each in found} == {(None, "no interval: one block")}
    assert list(part_notes(part_records(dataset, []), DELAY)) == []


@pytest.mark.parametrize("parts", [2, 4])
def test_machines_that_are_alike_are_seldom_called_different(parts: int) -> None:
    """By their blocks alone: 5 % at most, of all parts together."""
    from wirelab.stats.machine.parts import _is_apart, _ratio

    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(REPEATS):
        blocks = {(nth % parts + 1, nth): float(value) for nth, value in enumerate(rng.normal(0, 0.02, 5 * parts))}
        centre = np.mean([[value for (part, _), value in blocks.items() if part == each + 1] for each in range(parts)])
        around = {block: value - float(centre) for block, value in blocks.items()}
        ratios = [_ratio(around, part, parts) for part in range(1, parts + 1)]
        wrong += any(_is_apart({"part": 1, "trials": 1, "ratio": each.record()}) for each in ratios)
    # Two standard errors above 5 %.
    assert wrong / REPEATS <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / REPEATS)
