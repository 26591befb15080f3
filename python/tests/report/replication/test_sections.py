"""Sections of the page of a replication."""

from __future__ import annotations

from pathlib import Path

from tests.report.replication.records import record
from wirelab.report.blocks import Figure, Group, Prose
from wirelab.report.replication import sections


def test_every_claim_has_a_row_with_its_verdict(tmp_path: Path) -> None:
    [one, other] = record(tmp_path), record(tmp_path, primary=False)
    rows = sections.table([one, other]).claims
    assert [row.id for row in rows] == ["C1", "C2", "C3"] * 2
    assert [row.verdict.text for row in rows] == ["confirmed", "inconclusive", "confirmed", "–", "–", "–"]
    assert [row.cells[0].text for row in rows[:2]] == ["1.50", "–"]


def test_only_claims_that_turn_have_a_specification_curve(tmp_path: Path) -> None:
    grid = next(each for each in sections.sections(record(tmp_path)) if each.id == "grid")
    assert [block.summary for block in grid.blocks if isinstance(block, Group)] == ["C1 turns with choices"]


def test_the_forest_plot_names_papers_without_magnitudes(tmp_path: Path) -> None:
    [figure] = sections.magnitudes([record(tmp_path), record(tmp_path, printed=False, paper="silent")])
    assert isinstance(figure, Figure)
    assert figure.caption.endswith("No printed magnitudes: silent.")
    [words] = sections.magnitudes([record(tmp_path, printed=False)])
    assert words == Prose(sections.NO_NUMBERS)


def test_a_campaign_is_shown_with_what_ran_it(tmp_path: Path) -> None:
    table = sections.campaigns([record(tmp_path)])
    assert [cell.text for cell in table.rows[0]] == [
        "example", "main", "virtual", "2026-11-27", "1", "6.12", "10", "20", "1,000", "1,000", "0.100",
        "good in 10 of 10 scenarios", "a1",
    ]  # fmt: skip
