"""Campaigns of the two clocks, scenario by scenario."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.errors import WirelabError
from wirelab.metrics.tables import write_table
from wirelab.stats.compare.clocks import Agreement, agreement
from wirelab.stats.compare.equivalence import Verdict
from wirelab.stats.dataset import Dataset

DELAY = "end_to_end_delay_ns"
COMPUTING_NS = 2_000_000


def edit_plan(folder: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    plan = json.loads((folder / "plan.json").read_text())
    edit(plan)
    (folder / "plan.json").write_text(json.dumps(plan))
    return folder


def edit_exchanges(folder: Path, *columns: pl.Expr) -> Path:
    write_table(pl.read_parquet(folder / "exchanges.parquet").with_columns(columns), folder / "exchanges.parquet")
    return folder


def keep_exchanges(folder: Path, which: pl.Expr) -> Path:
    write_table(pl.read_parquet(folder / "exchanges.parquet").filter(which), folder / "exchanges.parquet")
    return folder


def virtually(plan: dict[str, Any]) -> None:
    for scenario in plan["scenarios"]:
        scenario["clock"] = "virtual"


def write_pair(folder: Path, **options: Any) -> tuple[Path, Path]:
    """Live and virtual; in real time each exchange takes 2 ms more."""
    options = {"uploads": ("30 B",), "links": ("lossless", "random"), "exchanges": 100, **options}
    live, virtual = (
        write_campaign(folder / name, seed=seed, **options) for seed, name in enumerate(("live", "virtual"))
    )
    return edit_exchanges(live, pl.col(DELAY) + COMPUTING_NS), edit_plan(virtual, virtually)


def compared(live: Path, virtual: Path) -> Agreement:
    return agreement(Dataset.read(live), Dataset.read(virtual))


def test_the_offset_is_taken_in_the_lossless_scenario_of_the_same_factors(tmp_path: Path) -> None:
    found = compared(*write_pair(tmp_path))
    assert found.metric == "end-to-end-delay"
    assert {cell.name.split()[0]: cell.reference for cell in found.cells if "random" in cell.name} == {
        protocol: f"{protocol} lossless 30 B 20 ms" for protocol in ("http1", "h2", "h3")
    }
    for cell in found.cells:
        assert cell.offset_s == pytest.approx(COMPUTING_NS / 1e9, abs=1e-4)
        assert cell.is_reference == ("lossless" in cell.name)
        assert (cell.live.exchanges, cell.virtual.exchanges) == (1000, 1000)
        assert cell.verdict is not Verdict.DIFFERS


def test_what_did_not_complete_counts_and_is_noted(tmp_path: Path) -> None:
    live, virtual = write_pair(tmp_path, protocols=("http1",))
    failed = pl.col("index") < 10
    edit_exchanges(
        live,
        pl.when(failed).then(pl.lit("failed")).otherwise("outcome").alias("outcome"),
        pl.when(failed).then(None).otherwise(DELAY).alias(DELAY),
    )
    found = compared(live, virtual)
    cell = found.cells[1]
    assert (cell.live.exchanges, cell.live.failed, cell.virtual.failed) == (1000, 0.1, 0.0)
    late = next(each for each in cell.measures if each.name == "late-share")
    assert late.verdict is Verdict.DIFFERS
    assert cell.verdict is Verdict.DIFFERS
    assert f"{cell.name}: 10.0% of live and 0.0% of virtual exchanges did not complete." in found.notes


def test_few_exchanges_are_said_to_be_few(tmp_path: Path) -> None:
    found = compared(*write_pair(tmp_path, exchanges=10))
    assert {len(cell.measures) for cell in found.cells if not cell.is_reference} == {1}
    assert {cell.verdict for cell in found.cells if cell.is_reference} == {None}
    assert any("only medians are compared there, within 15 %" in note for note in found.notes)


def test_a_live_campaign_that_was_disturbed_says_so(tmp_path: Path) -> None:
    live, virtual = write_pair(tmp_path, protocols=("http1",))
    edit_exchanges(live, (pl.col("index") == 0).alias("disturbed"))
    trials = live / "trials.parquet"
    write_table(pl.read_parquet(trials).with_columns(clock_step=True), trials)
    found = compared(live, virtual)
    assert {cell.quality for cell in found.cells} == {"unusable"}
    assert {cell.verdict for cell in found.cells} == {Verdict.INCONCLUSIVE}
    assert "The live link was late during 20 of 2,000 exchanges." in found.notes
    assert any(
        note.startswith("The live side is not of good quality in 2 of 2 cells") and "clock step" in note
        for note in found.notes
    )


def test_trials_with_the_same_seed_are_pairs_and_others_are_not(tmp_path: Path) -> None:
    live, virtual = write_pair(tmp_path, protocols=("http1",))
    seeds = [json.loads((folder / "plan.json").read_text())["seed"] for folder in (live, virtual)]
    other = compared(live, edit_plan(virtual, lambda plan: plan.update(seed=seeds[0] + 1)))
    assert [cell.paired for cell in other.cells] == [False, False]
    edit_plan(virtual, lambda plan: plan.update(seed=seeds[0]))
    edit_exchanges(
        virtual, pl.when(pl.col("replicate") == 3).then(pl.lit("unsupported")).otherwise("outcome").alias("outcome")
    )
    same = compared(live, virtual)
    assert [cell.paired for cell in same.cells] == [True, True]
    assert [(cell.live.exchanges, cell.virtual.exchanges) for cell in same.cells] == [(900, 900)] * 2


def test_without_a_lossless_scenario_there_is_no_offset(tmp_path: Path) -> None:
    found = compared(*write_pair(tmp_path, links=("random",), protocols=("http1",)))
    assert [(cell.offset_s, cell.reference) for cell in found.cells] == [(None, None)]
    assert any(note.startswith("No offset was taken in 1 of 1 cells") for note in found.notes)


def test_an_empty_side_is_inconclusive(tmp_path: Path) -> None:
    live, virtual = write_pair(tmp_path, protocols=("http1",))
    edit_exchanges(virtual, pl.lit("unsupported").alias("outcome"))
    found = compared(live, virtual)
    assert [cell.verdict for cell in found.cells] == [Verdict.INCONCLUSIVE] * 2
    assert f"{found.cells[0].name}: no exchange on the virtual side." in found.notes


@pytest.mark.parametrize(
    ("swap", "what", "hint"),
    [
        ((1, 0), "ran under the virtual clock, and", "swap them: wirelab clock compare"),
        ((0, 0), "both ran in real time", "run synthetic --clock virtual"),
        ((1, 1), "both ran under the virtual clock", "run synthetic --clock live"),
    ],
)
def test_campaigns_must_be_of_the_two_clocks(tmp_path: Path, swap: tuple[int, int], what: str, hint: str) -> None:
    pair = write_pair(tmp_path, exchanges=1)
    with pytest.raises(WirelabError, match=what) as error:
        compared(*(pair[index] for index in swap))
    assert hint in str(error.value)


def test_campaigns_must_have_the_same_scenarios(tmp_path: Path) -> None:
    live, virtual = write_pair(tmp_path, exchanges=1)
    others = edit_plan(write_campaign(tmp_path / "other", protocols=("http1",), exchanges=1), virtually)
    with pytest.raises(WirelabError, match=r"4 of 6 scenarios of \S+ are not in \S+, such as 'h2 lossless 30 B 20 ms'"):
        compared(live, others)

    def change(plan: dict[str, Any]) -> None:
        plan["scenarios"][0]["identity"] = "0" * 64

    with pytest.raises(WirelabError, match="which has it with another link, workload or setting"):
        compared(live, edit_plan(virtual, change))


def test_the_headline_metric_must_be_one_delay(tmp_path: Path) -> None:
    live, virtual = write_pair(tmp_path, exchanges=1)

    def by_packets(plan: dict[str, Any]) -> None:
        plan["experiment"]["metric"] = "wire-up-packets"

    edit_plan(live, by_packets)
    with pytest.raises(WirelabError, match="has the headline metric wire-up-packets, and"):
        compared(live, virtual)
    edit_plan(virtual, by_packets)
    with pytest.raises(WirelabError, match="which is not a delay"):
        compared(live, virtual)
