"""What is exact under the virtual clock, and the range over phases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.metrics.tables import write_table
from wirelab.schema.estimates import EXACT, EXACT_IN_PHASES
from wirelab.stats.analyze import analyze
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.exact import mark, marked

DELAY = "end_to_end_delay_ns"


def _record(low: float, high: float) -> dict[str, Any]:
    return {"point": 0.04, "low": low, "high": high, "level": 0.95, "n": 80, "method": "order statistics"}


@pytest.mark.parametrize(("high", "exact"), [(0.04, True), (0.0400007, True), (0.0401, False)])
def test_an_interval_without_a_width_that_a_digit_shows_is_called_exact(high: float, exact: bool) -> None:
    found = {"mean": {"median": _record(0.04, high)}}
    mark(found, EXACT)
    assert (found["mean"]["median"]["method"] == EXACT) is exact
    estimate = Estimate(0.04, 0.04, high, 0.95, 80, "order statistics")
    assert (marked(estimate, EXACT).method == EXACT) is exact
    assert marked(estimate, None) == estimate


def test_what_has_no_interval_keeps_its_reason() -> None:
    found = _record(0.04, 0.04) | {"low": None, "high": None, "method": "2 trials are too few"}
    mark(found, EXACT)
    assert found["method"] == "2 trials are too few"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of http1 on the lossless link each trial is the same. Clients of h2 begin at other phases: its trials differ on
    the lossless link, and not on the random one.
    """
    folder = write_campaign(tmp_path_factory.mktemp("c"), uploads=("30 B",), trials=4, exchanges=10)
    plan = json.loads((folder / "plan.json").read_text())
    keys = {}
    for scenario in plan["scenarios"]:
        scenario["clock"] = "virtual"
        keys[scenario["protocol"], scenario["levels"]["link"]] = scenario["key"]
        if scenario["protocol"] == "h2":
            scenario["workload"]["device"] = {
                "start_phase_ns": 10**9, "drift_ppb": 0, "message_ns": 0, "handshake_ns": 0,
            }  # fmt: skip
    (folder / "plan.json").write_text(json.dumps(plan))
    rows = pl.read_parquet(folder / "exchanges.parquet")
    same = pl.col("scenario") == keys["http1", "lossless"]
    phase = pl.col("scenario") == keys["h2", "lossless"]
    trial = pl.col("trial").rank("dense").over("scenario").cast(pl.Int64)
    # The median does not tell that trials differ.
    calm = (pl.col("scenario") == keys["h3", "lossless"]) & (pl.col("index") <= 6)
    steady = pl.col("scenario") == keys["h2", "random"]
    exact = pl.when(steady).then(50_000_000).when(same).then(40_000_000).when(calm).then(30_000_000)
    delay = exact.when(phase).then(60_000_000 + trial * 1_000_000).otherwise(pl.col(DELAY))
    write_table(rows.with_columns(delay.cast(rows[DELAY].dtype).alias(DELAY)), folder / "exchanges.parquet")
    return folder


def test_a_scenario_that_repeats_exactly_is_called_so_and_the_others_keep_their_intervals(campaign: Path) -> None:
    estimates = analyze(campaign)
    methods = {
        (each["protocol"], str(each["levels"]["link"])): each["metrics"]["end-to-end-delay"]["median"]["method"]
        for each in estimates["scenarios"]
    }
    assert methods.pop(("http1", "lossless")) == EXACT
    assert methods.pop(("h2", "random")) == EXACT_IN_PHASES
    assert not {EXACT, EXACT_IN_PHASES} & set(methods.values())


def test_where_phases_were_varied_their_range_is_given(campaign: Path) -> None:
    notes = [note for note in analyze(campaign)["notes"] if note.startswith("Over ")]
    [lossless] = [note for note in notes if "lossless" in note]
    assert lossless.startswith("Over 4 phases of h2")
    assert lossless.endswith("the median of end-to-end-delay in a trial went from 61.000 ms to 64.000 ms.")
