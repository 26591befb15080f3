"""A campaign's answer for the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.cli import summary
from wirelab.report.campaign import load
from wirelab.stats import analyze


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two stacks, of which h2 never answers in time."""
    folder = tmp_path_factory.mktemp("c")
    write_campaign(folder, stacks=("h2", "h3"), links=("random",), uploads=("30 B",), trials=5, exchanges=6)
    scenarios = json.loads((folder / "plan.json").read_text())["scenarios"]
    is_late = pl.col("scenario") == next(s["key"] for s in scenarios if s["stack"] == "h2")
    names = ("end_to_end_delay_ns", "response_time_ns", "response_time_curl_ns")
    pl.read_parquet(folder / "exchanges.parquet").with_columns(
        pl.when(is_late).then(pl.lit("timed-out")).otherwise("outcome").alias("outcome"),
        *(pl.when(~is_late).then(pl.col(name)).alias(name) for name in names),
    ).write_parquet(folder / "exchanges.parquet")
    analyze(folder)
    return folder


def test_the_fastest_stands_first_and_what_never_answers_last_with_its_denominator(campaign: Path) -> None:
    [table] = summary.tables(load(campaign, campaign))
    _, first, last = table.splitlines()
    assert first.startswith("h3")
    assert first.endswith("30/30")
    assert last.split()[:4] == ["h2", "above", "the", "time-out"]
    assert last.endswith("0/30")


def test_the_worst_link_direction_is_told(campaign: Path) -> None:
    estimates = json.loads((campaign / "estimates.json").read_text())
    line = summary.link_line(estimates)
    assert line.startswith("link   told 10 ms, measured 10.00")
    assert line.endswith(
        max((row["flag"] for row in estimates["links"]), key=["publishable", "teaching", "invalid"].index)
    )
