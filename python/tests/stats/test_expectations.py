"""Bounds that scenarios keep, miss, or neither."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.synthetic import write_campaign
from wirelab.experiment.file.expect import expectation, read_subject
from wirelab.schema.estimates import EXACT, EstimateRecord
from wirelab.stats import expectations
from wirelab.stats.analyze import analyze
from wirelab.stats.expectations import none_completed, verdict_of


def estimate(low: float | None, high: float | None, method: str = "bootstrap", point: float = 2.0) -> EstimateRecord:
    return {"point": point, "low": low, "high": high, "level": 0.95, "n": 10, "method": method}


@pytest.mark.parametrize(
    ("bound", "low", "high", "verdict"),
    [("< 3 s", 1, 2.9, "kept"), ("< 3 s", 3, 4, "missed"), ("< 3 s", 2.9, 3.1, "inconclusive"),
     ("<= 3 s", 3, 4, "inconclusive"),
     ("> 3 s", 3.1, 4, "kept"), ("> 3 s", 1, 3, "missed"), (">= 3 s", 3, 4, "kept"),
     ("< 3 s", 4, None, "missed"), ("< 3 s", 1, None, "inconclusive"), ("> 3 s", None, 4, "inconclusive")],
)  # fmt: skip
def test_the_whole_interval_decides(bound: str, low: float | None, high: float | None, verdict: str) -> None:
    found, why = verdict_of(expectation(read_subject("mean"), bound, "x"), estimate(low, high))
    assert (found, why is None) == (verdict, verdict != "inconclusive")


def test_an_exact_number_needs_no_interval() -> None:
    expected = expectation(read_subject("mean"), "< 2 s", "x")
    assert verdict_of(expected, estimate(1.99, 2.01, EXACT)) == ("missed", None)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_campaign(tmp_path_factory.mktemp("c"), uploads=("30 B",), trials=6, exchanges=20, timed_out=0.02)


def judged(campaign: Path, subject: str, bound: str) -> list[dict[str, Any]]:
    plan = json.loads((campaign / "plan.json").read_text())
    expected = expectation(read_subject(subject), bound, "end-to-end-delay")
    plan["experiment"]["expect"] = [expected.model_dump(mode="json")]
    (campaign / "plan.json").write_text(json.dumps(plan))
    return [dict(each) for each in analyze(campaign)["expectations"]]


def test_each_scenario_that_is_meant_is_judged_by_its_estimate(campaign: Path) -> None:
    found = judged(campaign, "p75 where protocol = h2", "< 1 h")
    assert {each["name"].split()[0] for each in found} == {"h2"}
    assert {each["verdict"] for each in found} == {"kept"}
    assert all(each["estimate"]["n"] == 120 and each["unit"] == "s" for each in found)


def test_the_share_that_completed_counts_time_outs(campaign: Path) -> None:
    found = judged(campaign, "completed", "<= 50 %")
    assert {each["verdict"] for each in found} == {"missed"}
    assert any(each["estimate"]["point"] < 1 for each in found)


def test_data_of_unusable_quality_decide_nothing(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectations, "of_scenario", lambda *_: ("unusable", "an overload"))
    found = judged(campaign, "median", "< 1 h")
    assert {(each["verdict"], each["why"]) for each in found} == {
        ("inconclusive", "the quality is unusable: an overload")
    }
    assert all(each["estimate"] is not None for each in found)
    monkeypatch.setattr(expectations, "of_scenario", lambda *_: ("limited", "a delay"))
    assert {each["verdict"] for each in judged(campaign, "median", "< 1 h")} == {"kept"}


def test_what_was_not_measured_is_inconclusive_with_the_reason(campaign: Path) -> None:
    assert {each["why"] for each in judged(campaign, "mean of load-time", "< 1 s")} == {"no load-time was measured"}
    why = "the p99 needs 1,000 values, and there are 120"
    assert {each["why"] for each in judged(campaign, "p99", "< 1 s")} == {why}


@pytest.mark.parametrize(
    ("ends", "none"),
    [({"failed": 3}, True), ({"timed-out": 3}, True), ({"failed_trials": 1}, True), ({}, False),
     ({"failed": 3, "completed": 1}, False), ({"failed": 3, "sent": 1}, False)],
)  # fmt: skip
def test_a_bound_of_exchanges_that_all_fail_is_missed(ends: dict[str, int], none: bool) -> None:
    keys = ("completed", "sent", "failed", "timed-out", "not-confirmed", "failed_trials")
    scenario: Any = {"denominators": {**dict.fromkeys(keys, 0), **ends}}
    assert none_completed(scenario) is none
