"""The three layers: the answer fits a screen, charts have a line each, and the evidence is closed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.report.campaigns import judge, read, store, write
from tests.report.html_checks import Page, Seen
from wirelab import report
from wirelab.report.blocks import Figure, Grid, Group, Legend, Prose, Section, Table
from wirelab.report.campaign import load
from wirelab.report.first_chart import first_chart
from wirelab.report.layers import ABOUT, MOST_WORDS, charted, first, has_figure, layers
from wirelab.report.page import TEMPLATES
from wirelab.report.sections import CHARTS, SECTIONS

MOST_BEFORE_EVIDENCE = 3_000
MOST_BYTES = 400_000
MOST_SCRIPT_BYTES = 60_000
QUICKSTART = {"protocols": ("raw-tcp", "http1", "h2", "h3"), "links": ("clean", "lossy")}
MARKS = ("header", "bar", "charts", "evidence", "footer")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of the size of quickstart's."""
    return report.write(write(tmp_path_factory.mktemp("quickstart"), **QUICKSTART)).read_text(encoding="utf-8")


def test_the_answer_has_one_chart_and_at_most_120_words(source: str) -> None:
    seen = Seen(source, MARKS)
    assert seen.drawn["header"] == 1
    assert 60 <= seen.words("header", "bar") <= MOST_WORDS == 120


def test_charts_come_before_the_evidence_which_is_closed(source: str) -> None:
    seen = Seen(source, MARKS)
    assert seen.drawn == {"header": 1, "charts": 4}
    assert seen.words("header", "bar", "charts") <= MOST_BEFORE_EVIDENCE
    assert seen.words("evidence") <= 10, "its summary alone"
    assert Page(source).words().count("\n") > 500, "the evidence is there"


def test_a_report_is_small(source: str) -> None:
    assert len(source.encode()) <= MOST_BYTES
    scripts = re.findall(r"<script>(.*?)</script>", source, re.DOTALL)
    assert sum(len(script.encode()) for script in scripts) <= MOST_SCRIPT_BYTES
    assert len(scripts) == 1


def test_the_evidence_opens_for_paper_and_for_a_link_into_it(source: str) -> None:
    assert '<details class="layer evidence" id="evidence" data-print>' in source
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    assert "details[data-print]:not([open])" in script
    assert "instanceof HTMLDetailsElement) node.open = true" in script


@pytest.mark.parametrize("claims", [3, 48])
def test_the_answer_of_a_paper_is_its_verdicts_and_keeps_to_its_words(tmp_path: Path, claims: int) -> None:
    folder = judge(write(tmp_path, title="A title of a paper that is as long as titles of papers are"))
    verdicts = read(folder, "verdicts.json")
    verdicts["claims"] = [{**verdicts["claims"][2], "id": f"M{number}"} for number in range(claims)]
    store(folder, "verdicts.json", verdicts)
    seen = Seen(report.write(folder).read_text(encoding="utf-8"), MARKS)
    assert seen.drawn["header"] == 1
    assert seen.words("header", "bar") <= MOST_WORDS
    words = " ".join(seen.parts["header"])
    assert f"Of {claims} published claims: {claims} inconclusive." in words
    assert ("M2 inconclusive" in words) == (claims == 3), "chips stand where there is room for them"


def test_what_the_answer_has_no_room_for_is_one_click_away(source: str) -> None:
    text = Page(source).words()
    [(number, more)] = re.findall(r"^(\d+) more sentences\n(.*?)^Charts$", text, re.DOTALL | re.MULTILINE)
    assert int(number) >= 2
    assert "the p95 of every protocol is a retransmission" in more
    header = " ".join(Seen(source, MARKS).parts["header"])
    assert "the p95 of every protocol is a retransmission" not in header


def test_findings_that_compare_have_their_place_before_those_that_do_not(tmp_path: Path) -> None:
    folder = write(tmp_path, **QUICKSTART)
    shown = first(load(folder, folder), ["word"] * 20, [])
    texts = [each.text for each in shown.answer]
    assert [text.partition(":")[0] for text in texts] == ["clean, encrypted", "lossy, encrypted"]
    assert [each.text.partition(":")[0] for each in shown.more][:2] == ["clean, unencrypted", "lossy, unencrypted"]


def test_without_room_the_first_finding_stands_alone(tmp_path: Path) -> None:
    folder = write(tmp_path, **QUICKSTART)
    shown = first(load(folder, folder), ["word " * 200], [])
    assert [each.text.partition(":")[0] for each in shown.answer] == ["clean, encrypted"]
    assert not shown.answer[0].more
    assert not shown.cautions
    assert shown.more[0].more, "whole among the others"


def test_every_section_stands_in_one_layer(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    campaign = load(folder, folder)
    parts = layers(campaign, first_chart(campaign))
    built = [section.id for build in SECTIONS if (section := build(campaign)) is not None]
    assert sorted([*(each.id for each in [*parts.charts, *parts.evidence]), "glance"]) == sorted(built)
    assert all(has_figure(each.blocks) for each in parts.charts)
    assert {each.id for each in parts.charts} == {"delays", "phases", "wire"}
    assert len(CHARTS) < len(SECTIONS)


def test_a_section_of_charts_that_draws_nothing_is_evidence(tmp_path: Path) -> None:
    folder = write(tmp_path)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        scenario["metrics"] = {}
    store(folder, "estimates.json", estimates | {"comparisons": []})
    campaign = load(folder, folder)
    parts = layers(campaign, first_chart(campaign))
    assert first_chart(campaign) is None
    assert "glance" in {each.id for each in parts.evidence}


def test_notes_and_tables_of_a_section_of_charts_are_folded_and_its_charts_are_not() -> None:
    table, legend = Table("t", [], []), Legend([])
    chart = Figure("", "label", "", None, [table], open=True)  # type: ignore[arg-type]
    whole = Section("a", "A", [Prose("note"), legend, chart, Group("g", [Grid("", [chart])]), table], "One line.")
    line, key, figure, group, about = charted(whole).blocks
    assert line == Prose("One line.")
    assert key == legend
    assert isinstance(figure, Figure)
    assert not figure.open
    assert isinstance(group, Group)
    assert isinstance(group.blocks[0], Grid)
    assert not group.blocks[0].figures[0].open
    assert about == Group(ABOUT, [Prose("note"), table])
