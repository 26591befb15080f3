"""Loads of a page, drawn."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from tests import pages
from tests.report import campaigns
from tests.report.html_checks import Page
from tests.snapshots import assert_golden
from wirelab import report
from wirelab.metrics.dataset import measure
from wirelab.metrics.resource_timings import RESOURCES
from wirelab.report.blocks import Figure, Grid, Prose, Section
from wirelab.report.campaign import load
from wirelab.report.figures.waterfall import Fall, Lane, waterfall
from wirelab.report.model import level_words, levels_words
from wirelab.report.sections import waterfalls
from wirelab.stats.analyze import analyze

COLOURS = {"queued": 0, "waiting": 3}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "campaign"
    records = pages.write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WIRELAB_AGENT", str(records.finish("load-time")))
        measure(folder)
    analyze(folder)
    return folder


def section(folder: Path) -> Section:
    found = waterfalls.section(load(folder, folder))
    assert found is not None
    return found


def figures(found: Section) -> dict[str, Figure]:
    return {figure.title: figure for block in found.blocks if isinstance(block, Grid) for figure in block.figures}


def drawn(figure: Figure) -> list[tuple[str, float, float]]:
    """Every bar's colour, left edge and width, from its path."""
    bars = re.findall(r'd="M([\d.]+),[-\d.]+h([\d.]+)[^"]*" fill="(var\(--p\d\))"', figure.svg)
    return [(color, float(left), float(width)) for left, width, color in bars]


def test_every_scenario_has_a_waterfall_of_every_resource(campaign: Path) -> None:
    found = figures(section(campaign))
    assert list(found) == ["http1", "h2"]
    for figure in found.values():
        [table] = figure.tables
        assert [row[0].text for row in table.rows] == [each.path for each in pages.PAGE.site.resources]
        for resource in pages.PAGE.site.resources:
            assert f'data-tip="{resource.path} (' in figure.svg


def test_the_load_nearest_to_the_median_is_shown(campaign: Path) -> None:
    """Of http1's trials the second has the median; its loads are alike, and h2's last one timed out."""
    found = figures(section(campaign))
    exchanges = pl.read_parquet(campaign / "exchanges.parquet")
    for title, figure in found.items():
        trial, index = re.findall(r"Load (\d+) of trial (\S+):", figure.caption)[0][::-1]
        load_time = exchanges.filter((pl.col("trial") == trial) & (pl.col("index") == int(index)))["load_time_ns"][0]
        mine = exchanges.filter(pl.col("scenario") == pages.key(title))["load_time_ns"].drop_nulls()
        assert abs(load_time - mine.median()) == (mine - mine.median()).abs().min()


def test_phases_in_the_table_add_up_and_are_drawn_to_scale(campaign: Path) -> None:
    for figure in figures(section(campaign)).values():
        [table] = figure.tables
        total = 0.0
        for row in table.rows:
            known, *phases, end = [0.0 if cell.text == "–" else float(cell.text) for cell in row[4:11]]
            assert sum(phases) == pytest.approx(end - known, abs=0.3)
            total += sum(phases)
        bars = drawn(figure)
        lengths = sum(width for _, _, width in bars)
        [(left, width)] = [(left, width) for color, left, width in bars if color == "var(--p1)"][:1]
        assert width / lengths == pytest.approx(39.5 / total, rel=0.02)
        assert left == pytest.approx(0.5 / 39.5 * width, abs=0.3)


def test_charts_of_one_link_have_the_same_axis(campaign: Path) -> None:
    ticks = [re.findall(r"<text[^>]*>([\d,]+)</text>", figure.svg) for figure in figures(section(campaign)).values()]
    assert ticks[0] == ticks[1]
    assert len(ticks[0]) >= 4


def test_connections_and_priorities_are_shown(campaign: Path) -> None:
    rows = {title: [[cell.text for cell in row] for row in figure.tables[0].rows]
            for title, figure in figures(section(campaign)).items()}  # fmt: skip
    assert {row[3] for row in rows["h2"]} == {"0"}
    assert {row[3] for row in rows["http1"]} == {"0", "1", "2", "3", "4", "5"}
    assert rows["h2"][1][12] == "3, incremental"
    assert rows["http1"][1][12] == "–"


def test_a_page_with_very_many_resources_is_cut_and_says_so(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waterfalls, "MOST_LANES", 3)
    figure = figures(section(campaign))["h2"]
    assert len(figure.tables[0].rows) == 3
    assert f"The first 3 of 9 resources; {RESOURCES} has all." in figure.caption


def test_a_grid_of_very_many_scenarios_has_the_first_ones_and_says_so(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waterfalls, "MOST_PICTURES", 1)
    found = section(campaign)
    assert list(figures(found)) == ["http1"]
    note = found.blocks[0]
    assert isinstance(note, Prose)
    assert "The first 1 of 2 scenarios. wirelab show" in note.text


def test_the_export_command_is_shown_for_few_loads_and_for_many(campaign: Path) -> None:
    note = section(campaign).blocks[0]
    assert isinstance(note, Prose)
    assert "The first" not in note.text
    assert "wirelab show CAMPAIGN TRIAL --har FILE writes the loads of any trial as HAR 1.2" in note.text


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/img/a%20b.png", "a b.png"),
        ("/%C3%A9.png?v=1&w=%C3%A9", "é.png?v=1&w=é"),
        ("/a.png?digest=0123456789", "a.png?digest=0123…"),
        ("/", "/"),
    ],
)
def test_a_label_is_the_decoded_file_name_with_the_beginning_of_its_query(path: str, label: str) -> None:
    assert waterfalls._label(path) == label


def test_the_report_of_pages_matches_the_golden_file(campaign: Path) -> None:
    page = Page(report.write(campaign).read_text(encoding="utf-8"))
    words = page.words().split("\nWaterfalls of page loads\n")[-1].split("\nPhases of an exchange\n")[0]
    assert_golden("report-waterfalls.txt", f"{words}\n")
    charts = [figure for figure in page.figures if "svg" in figure]
    assert all(figure.get("details") and figure.get("table") and figure.get("caption") for figure in charts)


def test_campaigns_without_pages_have_no_such_section(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path)
    assert waterfalls.section(load(folder, folder)) is None


def test_waiting_is_drawn_thin_and_failures_are_named() -> None:
    lanes = [Lane("a.css", 10, [30, 20], "a"), Lane("b.png", 12, [None, 50], "b: reset", mark="failed")]
    svg = waterfall("w", "label", Fall(lanes, 70, 100), COLOURS)
    heights = {
        color: {float(height) for height in re.findall(rf'd="M[^"]*v([\d.]+)h[^"]*" fill="{re.escape(color)}"', svg)}
        for color in ("var(--p0)", "var(--p3)")
    }
    assert heights["var(--p0)"] == {3}
    assert heights["var(--p3)"] == {10}
    assert ">failed</text>" in svg
    assert 'data-tip="b: reset"' in svg


@pytest.mark.parametrize(
    ("path", "level", "words"),
    [
        ("workload.page", "fischer2021", "fischer2021"),
        ("workload.page", '{"objects": 3, "object-size": "1 kB"}', "3 images of 1 kB"),
        ("workload.page.objects", "3", "3 images"),
        ("workload.page.objects", "1", "1 image"),
        ("workload.page.object-size", "1 kB", "images of 1 kB"),
        ("workload", "inlined", "inlined"),
        ("workload.connection", "persistent", "connection persistent"),
        ("protocol.initial-window-size", "256 B", "initial-window-size 256 B"),
        ("protocols.h2.hints", "push", "h2 hints push"),
        ("link.rtt", "2 ms", "link.rtt 2 ms"),
        ("links.wifi-poor.medium.frame-error", "45 %", "wifi-poor frame-error 45 %"),
        ("protocol", "h2", "protocol h2"),
    ],
)
def test_levels_are_written_in_words(path: str, level: str, words: str) -> None:
    assert level_words(path, level) == words


def test_levels_that_are_tables_are_written_as_in_the_file() -> None:
    folder = {"site": "~/shop", "document": "start.html"}
    configured = levels_words("workload.page", ["fischer2021", {"objects": 3, "object-size": "1 kB"}, folder])
    assert configured == "fischer2021, 3 images of 1 kB, shop/start.html"
    assert levels_words("link.gilbert-elliott", [{"p": "1 %", "r": "10 %"}]) == '{ p = "1 %", r = "10 %" }'
    assert levels_words("protocol.nagle", [True, 3]) == "true, 3"
