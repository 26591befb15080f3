"""Claims over the grid of choices, in the report and in the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.report.campaigns import judge, read, store, write
from wirelab.report import over_grid, page
from wirelab.report.answer import answer
from wirelab.report.blocks import Prose, Table
from wirelab.report.campaign import load
from wirelab.report.sections import claims

CHOICE = {"path": "link.rtt", "title": "round trip", "levels": ["20 ms", "2 ms"], "after_the_fact": True}
LAN = {
    "name": "lan", "title": "a local network", "basis": "text", "levels": {"link.rtt": "2 ms"}, "used": 0,
    "after_the_fact": False,
}  # fmt: skip
GRID: dict[str, Any] = {
    "frozen": {"digest": "0" * 64, "at": "2026-11-27T00:00:00Z"}, "primary": "lan", "choices": [CHOICE],
    "interpretations": [LAN, {**LAN, "name": "calibrated", "title": "fitted", "basis": "fitted", "used": 1}],
}  # fmt: skip
OVER: dict[str, Any] = {
    "size": 12, "points": 4, "confirmed": 4, "contradicted": 0, "not_decided": 0, "depends_on_outlier_rule": 0,
    "missing": 0, "fitted": 0, "outside": 0, "robust": True, "effect": None, "deciding": None,
    "interpretations": {"lan": "confirmed", "calibrated": None},
}  # fmt: skip
FLIPS = {
    "confirmed": 2, "contradicted": 1, "not_decided": 1, "depends_on_outlier_rule": 1, "robust": False,
    "effect": {
        "least": {"value": 0.8, "levels": {"link.rtt": "2 ms"}},
        "largest": {"value": 1.4, "levels": {"link.rtt": "20 ms"}},
    },
    "deciding": {"path": "link.rtt", "flips": 1, "pairs": 2},
    "interpretations": {"lan": "depends-on-outlier-rule", "calibrated": "fitted"},
}  # fmt: skip
NEVER = {"confirmed": 0, "not_decided": 4, "robust": False, "interpretations": {"lan": None, "calibrated": None}}


def _campaign(folder: Path, grid: dict[str, Any] | None = GRID) -> Path:
    folder = judge(write(folder))
    verdicts = read(folder, "verdicts.json")
    for claim, more in zip(verdicts["claims"], ({}, FLIPS, NEVER), strict=True):
        claim["over_grid"] = {**OVER, **more}
    if grid is not None:
        verdicts["grid"] = grid
    store(folder, "verdicts.json", verdicts)
    return folder


def _table(folder: Path) -> Table:
    section = claims.section(load(folder, folder))
    assert section is not None
    [table] = [block for block in section.blocks if isinstance(block, Table) and block.caption == over_grid.CAPTION]
    return table


def test_each_claim_has_its_range_its_counts_and_the_choice_that_decides(tmp_path: Path) -> None:
    folder = _campaign(tmp_path)
    table = _table(folder)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["M1", "–", "4 of 4", "0 of 4", "0 of 4", "confirmed", "–", "–"],
        ["M2", "0.800 to 1.40", "2 of 4", "1 of 4", "1 of 4", "depends on the outlier rule",
         "round trip turns the verdict in 1 of 2 pairs that differ in it alone", "calibrated"],
        ["M3", "–", "0 of 4", "0 of 4", "4 of 4", "–", "–", "–"],
    ]  # fmt: skip
    assert table.rows[1][1].title == "least with link.rtt 2 ms; largest with link.rtt 20 ms"
    assert over_grid.CAPTION in page.render(load(folder, folder))


def test_a_publication_without_a_primary_interpretation_has_a_dash(tmp_path: Path) -> None:
    table = _table(_campaign(tmp_path, {**GRID, "primary": None}))
    assert {row[5].text for row in table.rows} == {"–"}


def test_a_report_says_whether_the_grid_is_frozen(tmp_path: Path) -> None:
    said = [
        " ".join(block.text for block in over_grid.blocks(read(_campaign(folder, grid), "verdicts.json"))[:1]
                 if isinstance(block, Prose))
        for folder, grid in ((tmp_path / "frozen", GRID), (tmp_path / "open", None),
                             (tmp_path / "late", {**GRID, "first_trial": "2026-11-26T23:00:00Z"}),
                             (tmp_path / "early", {**GRID, "first_trial": "2026-11-27T01:00:00Z"}))
    ]  # fmt: skip
    assert "at most 4 of 12" in said[0]
    assert "were frozen at 2026-11-27T00:00:00Z; written after data existed: choices (1)." in said[0]
    assert said[1].endswith("The grid is not frozen.")
    assert said[2].endswith("after the first trial of 2026-11-26T23:00:00Z: they were written with data.")
    assert said[3] == said[0]


def test_the_answer_says_what_holds_at_every_point_and_what_depends_on_choices(tmp_path: Path) -> None:
    folder = _campaign(tmp_path)
    lines = [line for statement in answer(load(folder, folder)) for line in statement.lines()]
    first = (
        "Over up to 4 points of the grid of choices, M1: confirmed at every point; M2: depends on choices; "
        "M3: decided at no point."
    )
    assert first in lines
    detail = "of 4 points 2 confirmed and 1 contradicted; round trip turns the verdict in 1 of 2 pairs"
    assert f"  M2: {detail} that differ in it alone." in lines


def test_a_claim_that_is_decided_at_some_points_alone_does_not_count_as_turned_by_choices(tmp_path: Path) -> None:
    folder = _campaign(tmp_path)
    verdicts = read(folder, "verdicts.json")
    for claim, key in zip(verdicts["claims"], ("confirmed", "contradicted", "contradicted"), strict=True):
        counts = {"confirmed": 0, "contradicted": 0, key: 1, "not_decided": 3}
        claim["over_grid"] = {**OVER, **counts, "robust": False}
    [said] = over_grid.statements(verdicts["claims"])
    assert said.text == (
        "Over up to 4 points of the grid of choices, M1: confirmed at some points, contradicted at none; "
        "M2 and M3: contradicted at some points, confirmed at none."
    )
    assert said.more == []


def test_one_point_is_no_grid(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    assert over_grid.statements(load(folder, folder).claims) == []
    assert over_grid.blocks(read(folder, "verdicts.json")) == []
