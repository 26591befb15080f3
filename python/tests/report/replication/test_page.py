"""The page of a paper and that of all: well-formed, offline and complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser import browse, require
from tests.report.html_checks import Page
from tests.report.replication.records import record
from wirelab.replicate.kept import kept
from wirelab.report import protocols
from wirelab.report.replication import page
from wirelab.report.replication.markdown import write_markdown
from wirelab.report.replication.page import header_of_all, write_all, write_paper
from wirelab.schema import registered

NARROW, WIDE = 390, 1280
RESULTS = Path(__file__).resolve().parents[4] / "docs" / "results.md"
AGAIN = "docs/results.md is not of the records that ship: wirelab replicate --markdown docs/results.md"


def _page(path: Path) -> Page:
    found = Page(path.read_text(encoding="utf-8"))
    assert len(found.ids) == len(set(found.ids))
    loaded = [value for _, name, value in found.attributes if name == "src" or (name == "href" and "://" in value)]
    assert all(value.startswith("https://doi.org/") for value in loaded)
    return found


def test_the_page_of_a_paper_has_the_table_and_every_picture(tmp_path: Path) -> None:
    words = _page(write_paper(record(tmp_path), tmp_path / "index.html")).words()
    assert (
        "Of 3 claims of example, 2 confirmed (C1 at 1 of 2 points and C3) and 1 inconclusive. "
        "One choice alone turns C1: round trip" in words
    )
    for title in ("Claims", "Printed magnitudes", "Printed numbers", "Over the grid of choices", "Campaigns"):
        assert title in words
    assert "C1 turns with choices" in words
    assert "emulation only" in words
    assert "Skip to the report\nClaims\nMagnitudes\nNumbers\n" in words
    source = (tmp_path / "index.html").read_text()
    for picture in ("ours over each printed", "printed numbers against", "specification curve", "points that confirm"):
        assert f'<svg role="img" aria-label="{picture}' in source


def test_a_quick_run_says_what_it_leaves_out_and_how_wide_it_is(tmp_path: Path) -> None:
    found = record(tmp_path)
    found["campaigns"][0]["quick"] = "2 of 30 trials a scenario, 7 of 100 exchanges each"
    found["left_out"] = ["choices, 150 scenarios: it takes 5 min"]
    found["campaigns"][0]["lacks"] = ["C3"]
    words = _page(write_paper(found, tmp_path / "index.html")).words()
    assert "example: the campaign main was not judged by C3." in words
    assert "not conclusive. main: 2 of 30 trials a scenario, 7 of 100 exchanges each." in words
    assert "Half of its intervals are wider than 1.58-fold." in words
    assert "Listed campaigns that are left out: 1 of example. The section Campaigns has the reasons." in words
    assert "choices, 150 scenarios: it takes 5 min" in words


def test_campaigns_that_are_left_out_are_one_line_for_all_papers(tmp_path: Path) -> None:
    records = [record(tmp_path, paper=name) for name in ("one", "two", "three")]
    records[0]["left_out"], records[2]["left_out"] = ["a: not run", "b: not run"], ["c: not run"]
    assert header_of_all(records).warnings == [
        "Listed campaigns that are left out: 2 of one and 1 of three. The section Campaigns has the reasons."
    ]


def test_the_page_says_why_intervals_of_the_virtual_clock_are_narrow(tmp_path: Path) -> None:
    found = record(tmp_path)
    words = [_page(write_paper(found, tmp_path / "index.html")).words()]
    found["campaigns"][0]["clock"] = "live"
    words.append(_page(write_paper(found, tmp_path / "index.html")).words())
    assert ["differ by their seed alone" in each for each in words] == [True, False]


def test_the_hours_are_at_least_so_many_if_those_of_a_campaign_are_not_known(tmp_path: Path) -> None:
    found = record(tmp_path)
    known = [each for each in page.facts([found]) if each.endswith("of runs")]
    found["campaigns"].append({**found["campaigns"][0], "seconds": None})
    assert [each for each in page.facts([found]) if each.endswith("of runs")] == [f"at least {known[0]}"]


def test_a_paper_without_numbers_says_so_in_place_of_its_pictures(tmp_path: Path) -> None:
    words = _page(write_paper(record(tmp_path, printed=False), tmp_path / "index.html")).words()
    assert words.count("This paper prints no numbers.") == 2


def test_the_page_of_the_papers_that_ship_is_small_and_the_results_are_of_their_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocols, "registered", registered)
    records = kept()
    path = write_all(records, tmp_path / "all" / "index.html")
    assert path.stat().st_size < 5_000_000
    source = path.read_text()
    assert source.count("<svg role") == 2
    assert len(re.findall(r'<tbody id="claim-', source)) == sum(len(each["claims"]) for each in records)
    for made in write_markdown(records, tmp_path / RESULTS.name):
        assert made.read_text() == (RESULTS.parent / made.name).read_text(), AGAIN


@pytest.mark.chromium
def test_no_table_is_cut_off_in_print(tmp_path: Path) -> None:
    """On A4 between the margins, with the rules of print for the screen."""
    require()
    path = write_paper(record(tmp_path), tmp_path / "index.html")
    script = (
        "<script>addEventListener('load',()=>{document.title=Math.max(...[...document.querySelectorAll('.scroll')]"
        ".map(each=>each.firstElementChild.getBoundingClientRect().width-each.clientWidth))})</script>"
    )
    text = re.sub(r"@media screen[^{]*{", "@media not all {", path.read_text().replace("</body>", f"{script}</body>"))
    path.write_text(text.replace("@media print", "@media all"))
    found = re.search(
        r"<title>(-?[\d.]+)</title>", browse(tmp_path, "--window-size=688,1600", "--dump-dom", path.as_uri()).stdout
    )
    assert found is not None
    assert float(found[1]) <= 1


@pytest.mark.chromium
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_the_page_is_not_cut_off(tmp_path: Path, width: int) -> None:
    require()
    path = write_paper(record(tmp_path), tmp_path / "index.html")
    script = (
        "<script>addEventListener('load',()=>{document.title=document.documentElement.scrollWidth-innerWidth})</script>"
    )
    text = path.read_text().replace("</body>", f"{script}</body>")
    path.write_text(text)
    done = browse(tmp_path, f"--window-size={width},1600", "--dump-dom", path.as_uri())
    found = re.search(r"<title>(-?\d+)</title>", done.stdout)
    assert found is not None
    assert int(found[1]) <= 0
