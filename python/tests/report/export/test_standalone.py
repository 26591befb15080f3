"""A chart as a file of its own."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import vl_convert

from tests.report import campaigns
from wirelab.report.blocks import LegendEntry
from wirelab.report.campaign import load
from wirelab.report.export.charts import NamedChart, exported
from wirelab.report.export.standalone import standalone
from wirelab.report.export.venues import VENUES
from wirelab.report.figures.svg import NARROW, register_fonts

SVG = (
    '<svg role="img" aria-label="a" class="marks" width="{}" height="100" viewBox="0 0 {} 100">'
    '<path fill="var(--s4)" data-tip="x"/></svg>'
)
ENTRIES = [LegendEntry("h2", "var(--s4)", shape="square", dash="7 3", key="4"), LegendEntry("h3", "var(--s6)")]


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> list[NamedChart]:
    folder = campaigns.write(tmp_path_factory.mktemp("charts") / "c", choices={"link.rtt": ("20 ms", "50 ms")})
    return exported(load(folder, folder))[0]


@pytest.mark.parametrize("venue", VENUES)
def test_text_is_large_enough_and_no_chart_is_wider_than_the_page(charts: list[NamedChart], venue: str) -> None:
    limits = VENUES[venue]
    for each in charts:
        found = standalone(each.drawn, each.label, each.entries, limits)
        texts = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', found.svg)]
        scale = found.width_pt / float(re.findall(r'viewBox="0 0 ([\d.]+)', found.svg)[0])
        assert min(texts) * scale == pytest.approx(found.text_pt)
        assert found.text_pt >= limits.least_pt, each.name
        assert found.width_pt <= (limits.text_pt if found.spans else limits.column_pt)


def test_a_chart_is_a_document_with_its_colours_its_legend_and_its_font(charts: list[NamedChart]) -> None:
    for each in charts:
        found = standalone(each.drawn, each.label, each.entries, VENUES["ieee"])
        root = ElementTree.fromstring(found.with_font)
        assert "var(--" not in found.svg
        assert "data-tip" not in found.svg
        assert root.find("{http://www.w3.org/2000/svg}title") is not None
        assert "data:font/woff2;base64," in found.with_font
        assert root.attrib["width"] == f"{found.width_pt:g}pt"
        assert root.attrib["height"].endswith("pt")


def test_a_pdf_has_the_charts_size_and_its_font_inside(charts: list[NamedChart]) -> None:
    found = standalone(charts[0].drawn, charts[0].label, charts[0].entries, VENUES["ieee"])
    register_fonts()
    pdf = vl_convert.svg_to_pdf(found.svg)
    [box] = set(re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf))
    assert (float(box[0]), float(box[1])) == pytest.approx((found.width_pt, found.height_pt), abs=0.01)
    assert set(re.findall(rb"/BaseFont /[A-Z]+\+([\w-]+)", pdf)) == {b"Roboto-Regular"}


def test_the_legend_names_what_is_drawn_alone_and_breaks_into_rows() -> None:
    drawn = SVG.format(300, 300)
    assert standalone(drawn, "a", ENTRIES, VENUES["ieee"]).svg.count("<text") == 1
    many = [LegendEntry(f"a protocol with a long name {i}", "var(--s4)") for i in range(4)]
    rows = set(re.findall(r"translate\(2,(\d+)\)", standalone(drawn, "a", many, VENUES["ieee"]).svg))
    assert rows == {"0", "20", "40", "60"}


def test_the_narrow_drawing_is_taken_before_the_width_of_the_page() -> None:
    wide, narrow = SVG.format(700, 700), SVG.format(320, 320)
    both = f'<div class="wide">{wide}</div>{NARROW}{narrow}</div>'
    found = standalone(both, "a", ENTRIES, VENUES["ieee"])
    assert (found.spans, found.width_pt) == (False, 252)
    assert 'viewBox="0 0 320' in found.svg
    found = standalone(wide, "a", ENTRIES, VENUES["ieee"])
    assert (found.spans, found.width_pt) == (True, 516)


def test_the_font_is_shipped_with_its_licence() -> None:
    from wirelab.report.figures.svg import FONTS

    assert "Apache License" in Path(FONTS / "README.md").read_text()
