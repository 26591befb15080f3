"""Claims at each named interpretation."""

from __future__ import annotations

from pathlib import Path

from tests.report.replication.records import record
from wirelab.report.blocks import Table
from wirelab.report.replication.interpretations import blocks


def test_each_interpretation_has_its_claims_by_verdict_and_columns_without_one_are_left_out(tmp_path: Path) -> None:
    found = record(tmp_path)
    first, second, third = found["claims"]
    for claim, here, there in ((first, "confirmed", "contradicted"), (second, None, "fitted")):
        assert claim["over_grid"] is not None
        claim["over_grid"]["interpretations"] = {"lan": here, "calibrated": there}  # type: ignore[dict-item]
    third["over_grid"] = None
    [table] = blocks([found])
    assert isinstance(table, Table)
    assert table.caption == "example: verdicts at each named interpretation"
    assert [column.title for column in table.columns] == [
        "interpretation", "basis", "confirmed", "contradicted", "fitted", "not run",
    ]  # fmt: skip
    shown = [[cell.text for cell in row] for row in table.rows]
    assert shown == [
        ["lan, primary", "text", "C1", "–", "–", "C2"],
        ["calibrated", "fitted", "–", "C1", "C2", "–"],
    ]


def test_a_paper_without_interpretations_has_no_table(tmp_path: Path) -> None:
    found = record(tmp_path)
    found["grid"]["interpretations"] = []
    assert blocks([found]) == []
