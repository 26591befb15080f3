"""A piece of HTML with its own colours."""

from __future__ import annotations

from pathlib import Path

from tests.report import campaigns
from wirelab.report.campaign import load
from wirelab.report.grade import graded
from wirelab.report.sections.delays import section
from wirelab.report.snippet import answer, charts, light, resolved


def test_colours_stand_where_variables_were() -> None:
    assert resolved('fill="var(--ink)" stroke="var(--s4)"') == f'fill="{light()["ink"]}" stroke="{light()["s4"]}"'
    assert light()["ink"] != light()["paper"]


def test_charts_of_a_grid_and_of_groups_are_all_shown_with_one_legend(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path / "c", choices={"link.rtt": ("20 ms", "50 ms")})
    campaign = load(folder, folder)
    drawn = section(campaign)
    assert drawn is not None
    shown = charts(campaign, drawn)
    assert shown.count("<figure>") == 4
    assert shown.count('aria-label="Legend"') == 1
    assert f"Quality {graded(campaign)}" in shown


def test_an_answer_warns_first(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path / "c")
    shown = answer(load(folder, folder))
    assert shown.index("Small uploads") < shown.index("<svg")
