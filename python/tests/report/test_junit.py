"""Bounds as JUnit XML."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from tests.report import campaigns
from tests.report.campaigns import read, store
from tests.report.test_expectations import written
from wirelab.report import junit
from wirelab.report.campaign import load


def test_each_bound_of_a_scenario_is_a_test(tmp_path: Path) -> None:
    suite = ET.fromstring(junit.of_campaign(load(written(tmp_path), tmp_path)))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("7", "1", "1")
    *whole, missed, inconclusive, kept = suite
    assert {each.get("name") for each in whole} == {"exchanges completed"}
    assert [each.tag for each in missed] == ["failure"]
    assert missed[0].get("message") == "900 ms [850, 950], n = 120"
    assert inconclusive[0].get("message") == "the p95 needs 100 values, and there are 80"
    assert (len(kept), kept.get("name")) == (0, "completed >= 90 %")


def test_without_bounds_each_scenario_is_a_test(tmp_path: Path) -> None:
    suite = ET.fromstring(junit.of_campaign(load(campaigns.write(tmp_path), tmp_path)))
    assert (suite.get("tests"), suite.get("failures")) == ("4", "0")
    estimates = read(tmp_path, "estimates.json")
    estimates["scenarios"][0]["denominators"]["completed"] = 0
    store(tmp_path, "estimates.json", estimates)
    failed = ET.fromstring(junit.of_campaign(load(tmp_path, tmp_path)))
    assert failed.get("failures") == "1"
