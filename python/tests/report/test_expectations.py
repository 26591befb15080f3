"""The section on expectations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.report import campaigns
from tests.report.campaigns import read, store
from wirelab.report.blocks import Table
from wirelab.report.campaign import load
from wirelab.report.page import render
from wirelab.report.sections import expectations


def expected(scenario: dict[str, Any], **given: Any) -> dict[str, Any]:
    estimate = {"point": 0.9, "low": 0.85, "high": 0.95, "level": 0.95, "n": 120, "method": "bootstrap"}
    return {
        "subject": "p95 of end-to-end-delay", "bound": "< 800 ms", "scenario": scenario["key"],
        "name": scenario["name"], "verdict": "missed", "why": None, "unit": "s", "estimate": estimate, **given,
    }  # fmt: skip


def written(folder: Path) -> Path:
    campaigns.write(folder)
    estimates = read(folder, "estimates.json")
    first, second, *_ = estimates["scenarios"]
    share = {"point": 1.0, "low": 0.94, "high": 1.0, "level": 0.95, "n": 60, "method": "Korn-Graubard over trials"}
    estimates["expectations"] = [
        expected(first),
        expected(second, verdict="inconclusive", why="the p95 needs 100 values, and there are 80", estimate=None),
        expected(second, subject="completed", bound=">= 90 %", verdict="kept", unit="share", estimate=share),
    ]
    store(folder, "estimates.json", estimates)
    return folder


def test_each_bound_has_a_row_for_its_scenario(tmp_path: Path) -> None:
    section = expectations.section(load(written(tmp_path), tmp_path))
    assert section is not None
    [table] = [block for block in section.blocks if isinstance(block, Table)]
    texts = [[cell.text for cell in row[2:]] for row in table.rows]
    assert ["p95 of end-to-end-delay < 800 ms", "missed", "900 ms [850, 950]", "120", ""] in texts
    assert ["completed >= 90 %", "kept", "100 % [94, 100]", "60", ""] in texts
    inconclusive = "the p95 needs 100 values, and there are 80"
    assert ["p95 of end-to-end-delay < 800 ms", "inconclusive", "–", "–", inconclusive] in texts
    assert {row[3].tone for row in table.rows} == {"bad", "unsure", "good"}


def test_the_page_has_the_section_only_if_something_is_expected(tmp_path: Path) -> None:
    assert 'id="expectations"' in render(load(written(tmp_path / "a"), tmp_path))
    assert 'id="expectations"' not in render(load(campaigns.write(tmp_path / "b"), tmp_path))
