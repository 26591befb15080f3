"""A campaign for a pull request."""

from __future__ import annotations

from pathlib import Path

from tests.report import campaigns
from tests.report.test_expectations import written
from wirelab.report import markdown
from wirelab.report.blocks import Cell, Column
from wirelab.report.campaign import load


def test_a_table_has_its_units_and_no_bar_ends_a_cell() -> None:
    columns = [Column("name", numeric=False), Column("delay [interval]", "ms")]
    assert markdown.table("Delays", columns, [[Cell("a|b"), Cell("1")]], "95%") == [
        "**Delays**", "", "| name | delay [95%] ms |", "| --- | --- |", "| a\\|b | 1 |", "",
    ]  # fmt: skip


def test_it_has_each_scenario_and_its_bounds(tmp_path: Path) -> None:
    text = markdown.of_campaign(load(written(tmp_path), tmp_path))
    assert text.startswith("# Small uploads\n\nQuality: ")
    assert "| scenario | median of end-to-end delay [95%] | n | completed / attempted |" in text
    assert "| p95 of end-to-end-delay < 800 ms | missed | 900 ms [850, 950] | 120 |" in text
    assert text.count("\n| h2") >= 2


def test_without_bounds_there_is_one_table(tmp_path: Path) -> None:
    text = markdown.of_campaign(load(campaigns.write(tmp_path), tmp_path))
    assert text.count("\n| ---") == 1
    assert "why there is none" not in text
