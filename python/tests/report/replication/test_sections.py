"""Sections of the page of a replication."""

from __future__ import annotations

from pathlib import Path

from tests.report.replication.records import record
from wirelab.report.blocks import Figure, Grid, Group, Prose
from wirelab.report.replication import page, sections
from wirelab.report.replication.markdown import write_markdown


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


def test_the_forest_plot_has_no_colour_for_parts_that_judge_nothing(tmp_path: Path) -> None:
    with_verdict, without, fitted = (record(tmp_path) for _ in range(3))
    without["claims"][0]["verdict"] = None
    fitted["claims"][0]["verdict"] = "fitted"
    outside = record(tmp_path)
    outside["claims"][0]["parts"][0]["decides"] = False
    tones = [[ratio.tone for ratio in sections.ratios(each, several=False)]
             for each in (with_verdict, without, fitted, outside)]  # fmt: skip
    assert tones == [["good"], ["none"], ["none"], ["none"]]


def test_a_paper_with_an_outlier_rule_says_that_ours_are_without_it(tmp_path: Path) -> None:
    plain, ruled = record(tmp_path), record(tmp_path)
    ruled["outlier_rule"] = True
    for each in (plain, ruled):
        captions = [block.caption for block in sections.magnitudes([each]) if isinstance(block, Figure)]
        section = next(part for part in sections.sections(each) if part.id == "numbers")
        captions += [figure.caption for block in section.blocks if isinstance(block, Grid) for figure in block.figures]
        assert len(captions) == 2
        assert [sections.RAW in caption for caption in captions] == [each["outlier_rule"]] * 2


def test_each_campaign_is_a_family_of_its_own_on_the_page_of_all_papers_too(tmp_path: Path) -> None:
    records = [record(tmp_path), record(tmp_path, paper="other")]
    [claims] = (part for part in page.sections_of_all(records) if part.id == "claims")
    text = next(block.text for block in claims.blocks if isinstance(block, Prose))
    assert "Each campaign is a family of its own: at most 5% chance" in text
    assert "Each campaign is a family of its own" in write_markdown(records, tmp_path / "all.md")[0].read_text()
