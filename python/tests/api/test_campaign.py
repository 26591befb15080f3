"""A campaign as tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import wirelab
from tests.report import campaigns
from tests.synthetic import write_campaign
from wirelab.stats.analyze import analyze

PROTOCOLS, LINKS, TRIALS, EXCHANGES = ("h2", "h3"), ("lossless", "random"), 5, 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaign")
    write_campaign(folder, protocols=PROTOCOLS, links=LINKS, uploads=("30 B",), trials=TRIALS, exchanges=EXCHANGES)
    analyze(folder)
    return folder


def test_an_exchange_has_its_factors_and_no_column_twice(folder: Path) -> None:
    found = wirelab.load(folder).exchanges
    assert len(found) == len(PROTOCOLS) * len(LINKS) * TRIALS * EXCHANGES
    assert found.columns[:3] == ["trial", "name", "protocol"]
    assert set(found["protocol"]) == set(PROTOCOLS)
    assert set(found["link"]) == set(LINKS)
    assert found.schema["client"] == pl.String
    assert found.schema["client_number"] == pl.Int64
    each = found.group_by("protocol", "link").len()["len"]
    assert set(each) == {TRIALS * EXCHANGES}


def test_an_estimate_has_its_factors_its_interval_and_the_outcomes(folder: Path) -> None:
    found = wirelab.load(folder).estimates
    [row] = found.filter(
        (pl.col("protocol") == "h2") & (pl.col("link") == "lossless") & (pl.col("metric") == "end-to-end-delay")
        & (pl.col("statistic") == "median")
    ).to_dicts()  # fmt: skip
    assert row["low"] <= row["point"] <= row["high"]
    assert (row["n"], row["attempted"], row["completed"]) == (TRIALS * EXCHANGES,) * 3


def test_a_comparison_names_both_sides(folder: Path) -> None:
    campaign = wirelab.load(folder)
    found = campaign.comparisons.filter(pl.col("metric") == "end-to-end-delay")
    assert len(found) == len(LINKS)
    is_median = (pl.col("metric") == "end-to-end-delay") & (pl.col("statistic") == "median")
    medians = dict(campaign.estimates.filter(is_median).select("name", "point").iter_rows())
    for row in found.to_dicts():
        assert {row["a_protocol"], row["b_protocol"]} == set(PROTOCOLS)
        assert row["ratio_of_medians"] == pytest.approx(medians[row["a"]] / medians[row["b"]])
        assert row["link"] in LINKS
        assert (row["level"], row["workload.upload"]) == (0.95, "30 B")
        assert row["quality"] in {"good", "limited", "unusable"}


def test_a_verdict_has_the_figure_of_the_paper_and_ours(tmp_path: Path) -> None:
    found = wirelab.load(campaigns.judge(campaigns.write(tmp_path / "c"))).verdicts
    assert {"claim", "text", "verdict", "why", "paper", "paper_text", "ours", "ours_low", "ours_high", "n"} == set(
        found.columns
    )
    assert len(found) == len(campaigns.read(tmp_path / "c", "verdicts.json")["claims"]) > 0
    assert wirelab.load(tmp_path / "c").trials.columns[:3] == ["trial", "name", "protocol"]


def test_without_claims_there_is_no_verdict(folder: Path) -> None:
    assert wirelab.load(folder).verdicts.shape == (0, 10)


def test_the_points_of_the_curves_are_the_shares_of_all_exchanges(folder: Path) -> None:
    chart = wirelab.load(folder).cdf()
    for _, steps in chart.data.group_by("name"):
        assert steps["delay_ms"].is_sorted()
        assert steps["share"].to_list() == pytest.approx([(1 + i) / len(steps) for i in range(len(steps))])
    assert chart._repr_html_().count("<figure>") == len(LINKS)


def test_pandas_gets_the_same_rows(folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    ours, theirs = wirelab.load(folder), wirelab.load(folder, frames="pandas")
    assert isinstance(theirs.exchanges, pandas.DataFrame)
    assert list(theirs.exchanges.columns) == ours.exchanges.columns
    assert theirs.estimates["point"].sum() == pytest.approx(ours.estimates["point"].sum())


@pytest.mark.parametrize(
    ("mistake", "words"),
    [("results/none", "is not a campaign: it has no plan.json"), ("frames", "did you mean 'pandas'?"),
     ("packets", "no trial 'none'"), ("tables", "has no exchanges.parquet")],
)  # fmt: skip
def test_a_mistake_is_one_error(folder: Path, tmp_path: Path, mistake: str, words: str) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "plan.json").write_bytes((folder / "plan.json").read_bytes())
    asked = {
        "results/none": lambda: wirelab.load(mistake),
        "frames": lambda: wirelab.load(folder, frames="panda"),  # type: ignore[call-overload]
        "packets": lambda: wirelab.load(folder).packets("none"),
        "tables": lambda: wirelab.load(bare).exchanges,
    }
    with pytest.raises(wirelab.WirelabError) as raised:
        asked[mistake]()
    assert words in str(raised.value)
    assert raised.value.hint
