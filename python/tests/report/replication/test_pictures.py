"""Pictures of a replication."""

from __future__ import annotations

from pathlib import Path

from tests.report.replication.records import record
from wirelab.report.blocks import Figure, Grid, Group, Prose
from wirelab.report.replication import pictures
from wirelab.schema.replication import Replication


def test_only_claims_that_turn_have_a_specification_curve(tmp_path: Path) -> None:
    blocks = pictures.curves(record(tmp_path))
    assert [block.summary for block in blocks if isinstance(block, Group)] == ["C1 turns with choices"]


def test_a_curve_has_a_line_at_what_the_paper_prints(tmp_path: Path) -> None:
    def drawn(record: Replication) -> Figure:
        [group] = pictures.curves(record)
        assert isinstance(group, Group)
        [figure] = group.blocks
        assert isinstance(figure, Figure)
        return figure

    with_number, without = drawn(record(tmp_path)), drawn(record(tmp_path, printed=False))
    assert with_number.caption.endswith("Dashed: what the paper prints.")
    assert "stroke-dasharray" in with_number.svg
    assert "Dashed" not in without.caption
    assert "stroke-dasharray" not in without.svg


def test_the_forest_plot_names_papers_without_magnitudes(tmp_path: Path) -> None:
    [grid] = pictures.magnitudes([record(tmp_path), record(tmp_path, printed=False, paper="silent")])
    assert isinstance(grid, Grid)
    assert grid.figures[0].caption.endswith("No printed magnitudes: silent.")
    [words] = pictures.magnitudes([record(tmp_path, printed=False)])
    assert words == Prose(pictures.NO_NUMBERS)


def test_the_forest_plot_has_no_colour_for_parts_that_judge_nothing(tmp_path: Path) -> None:
    with_verdict, without, fitted = (record(tmp_path) for _ in range(3))
    without["claims"][0]["verdict"] = None
    fitted["claims"][0]["verdict"] = "fitted"
    outside = record(tmp_path)
    outside["claims"][0]["parts"][0]["decides"] = False
    tones = [[ratio.tone for ratio in pictures.ratios(each)]
             for each in (with_verdict, without, fitted, outside)]  # fmt: skip
    assert tones == [["good"], ["none"], ["none"], ["none"]]


def test_the_colours_of_counts_and_curves_are_explained(tmp_path: Path) -> None:
    found = record(tmp_path)
    [grid], [curve] = pictures.counts([found]), pictures.curves(found)
    assert isinstance(grid, Grid)
    assert isinstance(curve, Group)
    figures = [*grid.figures, *(each for each in curve.blocks if isinstance(each, Figure))]
    assert len(figures) == 2
    assert all(word in each.caption for each in figures for word in ("Green: ", "Red: ", "Brown: neither"))


def test_a_claim_that_nothing_measures_has_no_bar(tmp_path: Path) -> None:
    found = record(tmp_path)
    found["claims"][1]["form"] = "not-measured"
    [grid] = pictures.counts([found])
    assert isinstance(grid, Grid)
    drawn = str(grid.figures[0].svg)
    assert drawn.count(">not measured<") == 1
    assert "C1: not decided" in drawn
    assert "C2: not decided" not in drawn


def test_a_part_has_a_mark_of_its_own_for_each_verdict(tmp_path: Path) -> None:
    """Colour alone says nothing to some readers."""
    [grid] = pictures.magnitudes([record(tmp_path)])
    assert isinstance(grid, Grid)
    caption = grid.figures[0].caption
    assert all(mark in caption for mark in ("Circle, green", "Cross, red", "Diamond, brown", "Square, grey"))


def test_a_long_level_is_named_by_the_end_of_its_path(tmp_path: Path) -> None:
    found = record(tmp_path)
    long = f"programs.{'chromium' * 4}.latency"
    for number, levels in enumerate(found["points"]):
        levels[long] = f"{number} ms"
    [curve] = pictures.curves(found)
    assert isinstance(curve, Group)
    [figure] = [each for each in curve.blocks if isinstance(each, Figure)]
    assert ">latency 0 ms<" in figure.svg
    assert "…" not in figure.svg
