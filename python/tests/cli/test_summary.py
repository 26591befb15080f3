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


def test_of_a_link_that_netem_ran_no_delay_error_is_told(tmp_path: Path) -> None:
    write_campaign(tmp_path, stacks=("h2",), links=("random",), uploads=("30 B",), trials=5, exchanges=6)
    plan = json.loads((tmp_path / "plan.json").read_text())
    for scenario in plan["scenarios"]:
        scenario["link"]["backend"] = "netem"
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    analyze(tmp_path)
    estimates = json.loads((tmp_path / "estimates.json").read_text())
    [row, _] = estimates["links"]
    assert (row["backend"], row["flag"]) == ("netem", "publishable")
    assert row["why"] == "loss is as told, by netem's counters; its delays are for the probes to judge: it keeps no log"
    assert row["measured"]["delay_error_s"] == {"p50": None, "p99": None, "max": None}
    assert row["measured"]["loss"]["point"] is not None
    assert estimates["replay"] is None
    assert summary.link_line(estimates) == "link   run by netem, which keeps no log  publishable"


def test_the_worst_link_direction_is_told(campaign: Path) -> None:
    estimates = json.loads((campaign / "estimates.json").read_text())
    line = summary.link_line(estimates)
    assert line.startswith("link   told 10 ms, measured 10.00")
    assert line.endswith(
        max((row["flag"] for row in estimates["links"]), key=["publishable", "teaching", "invalid"].index)
    )
