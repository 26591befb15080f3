"""Exact probabilities next to the sample of the same scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.schema.exact import ENUMERATED, EXACT, EXACT_VERSION
from wirelab.stats.dataset import Dataset
from wirelab.stats.enumerated import enumerated

DELAYS = [0.01, 0.1, 1.0]


def _exact(**stands_for: str) -> dict[str, Any]:
    scenario = {
        "name": "h2", "protocol": "h2", "client": "builtin", "server": "builtin", "seed": 1, "trial": "t", "runs": 9,
        "whole_to": 2, "delay_s": 0.05, "quantiles": [], "means": [], "worst": [], "packets": [], "curves": [],
        "beyond": [{"loss": "lossy", "delay_s": 0.1, "bounds": {"low": 0.2, "high": 0.3}, "sampled": None}],
        "stands_for": stands_for,
        "exceedances": [{"loss": "lossy", "low": [1.0, 0.2, 0.0], "high": [1.0, 0.3, 0.1]}],
    }  # fmt: skip
    return {
        "schema_version": EXACT_VERSION, "version": "0.1.0", "experiment": "synthetic", "title": "Synthetic",
        "links": [], "workloads": [], "kernel": "7.2", "losses": [], "radios": [], "bounded": True, "horizon_s": 1.0,
        "rates": [], "delays_s": DELAYS, "runs": 9, "seconds": 1.0, "scenarios": [scenario], "over_seeds": [],
        "crossovers": [],
    }  # fmt: skip


def _dataset(folder: Path, exact: dict[str, Any] | None, *, timed_out: float = 0.0) -> Dataset:
    write_campaign(
        folder, protocols=("h2",), links=("random",), uploads=("30 B",), trials=6, exchanges=10, timed_out=timed_out,
    )  # fmt: skip
    if exact is not None:
        (folder / ENUMERATED).mkdir()
        (folder / ENUMERATED / EXACT).write_text(json.dumps(exact), encoding="utf-8")
    return Dataset.read(folder)


def test_a_scenario_has_both_at_each_delay(tmp_path: Path) -> None:
    name = Dataset.read(write_campaign(tmp_path / "names", protocols=("h2",), links=("random",), uploads=("30 B",)))
    dataset = _dataset(tmp_path / "it", _exact(lossy=name.scenarios[0].identity), timed_out=0.2)
    [(key, found)] = enumerated(dataset).items()
    assert key == dataset.scenarios[0].key
    rows = dataset.rows(key)
    late = rows.filter((pl.col("outcome") != "completed") | (pl.col("end_ns") - pl.col("start_ns") > 1e8))
    [share] = found["shares"]
    assert (share["delay_s"], share["low"], share["high"]) == (0.1, 0.2, 0.3)
    assert share["sampled"]["point"] == pytest.approx(len(late) / len(rows))
    assert share["sampled"]["n"] == len(rows)
    assert found["delays_s"] == DELAYS
    assert found["sampled"][1] == share["sampled"]["point"]
    timed_out = len(rows.filter(pl.col("outcome") != "completed"))
    assert timed_out > 0
    assert found["sampled"][-1] >= timed_out / len(rows)


def test_without_an_enumeration_or_with_one_of_other_scenarios_there_is_none(tmp_path: Path) -> None:
    assert enumerated(_dataset(tmp_path / "none", None)) == {}
    assert enumerated(_dataset(tmp_path / "other", _exact(lossy="another scenario"))) == {}
