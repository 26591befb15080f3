"""The page of a choice, and its record."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.browser import browse, require
from tests.report.choose.made_up import FIRST, RECORD, SECOND, THIRD, alike, bare, missed
from tests.report.html_checks import Page
from wirelab.report.blocks import Figure, Legend, Table
from wirelab.report.choose import pictures
from wirelab.report.choose.page import sections, write_chosen
from wirelab.schema.choose import CHOSEN, Chosen, read_chosen

NARROW, WIDE = 390, 1280


def page_of(record: Chosen, folder: Path) -> str:
    """The page's source."""
    write_chosen(record, folder, "choose.html")
    return (folder / "choose.html").read_text(encoding="utf-8")


def tables_of(record: Chosen) -> list[Table]:
    """The tables of choices: what a message takes, when it arrives, and what was run."""
    return [block for block in sections(record)[0].blocks if isinstance(block, Table)]


@pytest.mark.parametrize("record", [RECORD, alike(), bare(), missed()], ids=["ranked", "alike", "bare", "missed"])
def test_the_record_is_read_as_it_was_written(record: Chosen, tmp_path: Path) -> None:
    text = write_chosen(record, tmp_path, "choose.html")
    assert json.loads(text) == record == read_chosen(tmp_path / CHOSEN)
    assert (tmp_path / CHOSEN).read_text(encoding="utf-8") == f"{text}\n"


@pytest.mark.parametrize("record", [RECORD, alike(), bare(), missed()], ids=["ranked", "alike", "bare", "missed"])
def test_the_page_is_whole_and_offline(record: Chosen, tmp_path: Path) -> None:
    page = Page(page_of(record, tmp_path))
    assert len(page.ids) == len(set(page.ids))
    assert not [value for _, name, value in page.attributes if name == "src" or (name == "href" and "://" in value)]
    linked = {value for _, name, value in page.attributes if name == "href" and value.startswith("#")}
    assert linked <= {f"#{each}" for each in page.ids}


def test_the_page_says_what_the_terminal_says(tmp_path: Path) -> None:
    source = page_of(RECORD, tmp_path)
    said = Page(source).words()
    for words in (
        "First: coaps, persistent. It is first in 4 of 6 operator settings (2 of 4", "compared by 2 trials each",
        "missed by -59 to +130 %", "energy / 4.2",
        "communication alone 7.33", "Crossover at a message every 1 min to 1 h", "crypto time of the device",
        "fewer than 100 messages", "It loses 14 of 96 messages", "The device never moves.", "4.96 J", "emulation only",
        "Richter and others (2016)", "The link's delays are those of one publication.", "Tariff: 0.50 EUR a MB",
    ):  # fmt: skip
        assert words in said, words
    assert len(re.findall(r'<svg role="img"', source)) == 3


def test_what_there_is_none_of_has_no_section() -> None:
    assert [section.id for section in sections(RECORD)] == [
        "choices", "levers", "maps", "settings", "apart", "radio", "assumptions", "not-considered", "how",
    ]  # fmt: skip
    assert [section.id for section in sections(bare())] == ["choices", "how"]


def test_every_figure_with_an_interval_shows_it_in_the_table() -> None:
    firsts = [
        [*zip((column.title for column in table.columns), (cell.text for cell in table.rows[0]), strict=True)]
        for table in tables_of(RECORD)
    ]
    assert all(first[:2] == [("choice", FIRST), ("rank", "1")] for first in firsts)
    assert [first[2:] for first in firsts] == [
        [
            ("energy, modelled: mean [interval]", "75.0 [72.8, 77.2]"),
            ("range of the radio's constants", "60.0 to 97.5"),
            ("data, measured: mean [interval]", "132.0 [130.7, 133.3]"),
            ("battery, modelled [range of the radio's constants]", "7.33 [5.60, 9.33]"),
        ],
        [
            ("acknowledged: p50 [interval]", "1,420 [1,400, 1,450]"),
            ("p95 [interval]", "1,900 [1,900, 2,280]"),
            ("within 10 s [interval]", "99.7 [98.1, 100.0]"),
            ("lost [interval]", "0 [0, 1.0]"),
        ],
        [
            ("data of a year, measured", "6.94 MB"),
            ("cost of a year", "3.47 EUR"),
            ("program", "builtin"),
            ("trials", "12"),
            ("messages lost", "0 of 288"),
        ],
    ]


def test_columns_that_nobody_asked_for_are_left_out() -> None:
    titles = [column.title for table in tables_of(bare()) for column in table.columns]
    assert not [each for each in titles if "modelled" in each or "cost" in each or "within" in each]
    assert "security" not in titles
    other = {**RECORD["choices"][1], "auth": "none"}
    mixed: Chosen = {**RECORD, "choices": [RECORD["choices"][0], other]}  # type: ignore[list-item]
    runs = tables_of(mixed)[2]
    at = [column.title for column in runs.columns].index("security")
    assert [row[at].text for row in runs.rows] == ["PSK", "none"]


def test_a_figure_that_is_missing_has_its_reason() -> None:
    takes, arrives, _ = tables_of(RECORD)
    at = [column.title for column in arrives.columns].index("p95 [interval]")
    assert (arrives.rows[1][at].text, arrives.rows[1][at].reason) == ("–", "fewer than 100 messages")
    assert takes.rows[3][1].reason == "it is not ranked"
    bounds = {**RECORD["choices"][0], "energy_j": None, "battery_years": None}
    empty = tables_of({**RECORD, "choices": [bounds]})[0].rows[0]  # type: ignore[list-item]
    assert [cell.reason for cell in empty if cell.text == "–"] == [
        "it has no energy", "it has no energy",
    ]  # fmt: skip


def test_a_rank_that_the_deadline_leaves_open_has_its_reason() -> None:
    why = "Inconclusive, close to the deadline: 0 % of its messages are late, but 60 % with 10 % less time."
    near = {**RECORD["choices"][0], "rank": None, "not_ranked": why, "near_deadline": why}
    [takes, *_] = tables_of({**RECORD, "choices": [near]})  # type: ignore[list-item]
    assert (takes.rows[0][1].text, takes.rows[0][1].reason) == ("?", "inconclusive: the deadline is close")


def test_a_choice_looks_the_same_in_every_picture() -> None:
    hues = pictures.hues(RECORD)
    assert [*hues] == [FIRST, SECOND, THIRD]
    assert [hue.letter for hue in hues.values()] == ["A", "B", "C"]
    first, second, third = hues.values()
    assert first.slot == second.slot != third.slot
    assert first.shade != second.shade and first.shape != second.shape
    others: Chosen = {**RECORD, "choices": RECORD["choices"][2:]}
    assert FIRST in pictures.hues(others), "a map may name what is not in the table"


def test_maps_and_curves_have_data_tables() -> None:
    line, grid = pictures.maps(RECORD)
    assert isinstance(line, Figure) and isinstance(grid, Figure)
    assert [[cell.text for cell in row] for row in line.tables[0].rows[:2]] == [
        ["1 min", THIRD, "1.31"], ["10 min", f"{FIRST} = {THIRD}", "1.31"],
    ]  # fmt: skip
    assert [cell.text for cell in grid.tables[0].rows[2]] == ["10 %", "30 s", "–", "–"]
    assert "Of 6 points: coaps, new is first at 2; coaps, persistent is first at 2; nothing is ranked at 1" in (
        grid.caption
    )
    legend, curve = pictures.settings(RECORD)
    assert isinstance(legend, Legend) and isinstance(curve, Figure)
    assert [entry.text for entry in legend.entries] == [FIRST, SECOND, THIRD]
    [table] = curve.tables
    assert [cell.text for cell in table.rows[4]] == ["30 s", "10 s", SECOND, "240", "98.0", "–"]
    assert pictures.settings(bare()) == pictures.maps(bare()) == []


def test_a_curve_of_bytes_is_in_bytes() -> None:
    _, curve = pictures.settings({**RECORD, "criterion": "data"})
    assert isinstance(curve, Figure)
    assert "IP bytes a message" in curve.svg


@pytest.mark.chromium
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_the_page_is_not_cut_off(tmp_path: Path, width: int) -> None:
    """Nor is a table of choices behind a scroll bar where there is room."""
    require()
    source = page_of(RECORD, tmp_path)
    script = (
        "<script>addEventListener('load',()=>{document.title=[document.documentElement.scrollWidth-innerWidth,"
        "...[...document.querySelectorAll('.scroll:has(> .pinned)')].map(e=>e.scrollWidth-e.clientWidth)]})</script>"
    )
    path = tmp_path / "choose.html"
    path.write_text(source.replace("</body>", f"{script}</body>"))
    done = browse(tmp_path, f"--window-size={width},1600", "--dump-dom", path.as_uri())
    found = re.search(r"<title>([-\d,]+)</title>", done.stdout)
    assert found is not None
    whole, *tables = map(int, found[1].split(","))
    assert whole <= 0
    assert len(tables) == 3
    assert width == NARROW or max(tables) <= 0
