"""Charts show what the data say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from markupsafe import Markup

from wirelab.report.figures.bars import Bar, bars
from wirelab.report.figures.distribution import Sample, ecdf, visible_steps
from wirelab.report.figures.intervals import Mark, intervals
from wirelab.report.figures.scales import is_logarithmic, log_domain, ticks
from wirelab.report.figures.svg import NARROW
from wirelab.report.model import Series
from wirelab.report.palette import looks

SERIES = Series("h2", "h2", "builtin", "builtin (lib 1.0)", looks([("h2", "builtin")])[0])
DOMAIN = (10.0, 1000.0)


def wide(drawn: Markup | None) -> str:
    """The drawing for a wide page."""
    assert drawn is not None
    return drawn.partition(NARROW)[0]


def test_thinning_never_moves_a_curve_by_more_than_a_pixel() -> None:
    delays = np.sort(np.random.default_rng(1).lognormal(4, 0.5, 5000))
    corners = visible_steps(delays, len(delays), DOMAIN, 330)
    assert len(corners) < 340
    pixel = (np.log10(DOMAIN[1]) - np.log10(DOMAIN[0])) / 330
    xs, ys = np.array(corners).T
    reached = xs[np.searchsorted(ys, np.arange(1, 5001) / 5000)]
    moved = np.log10(reached) - np.log10(delays)
    assert moved.min() >= 0
    assert moved.max() <= pixel


def test_a_curve_ends_at_the_share_that_completed() -> None:
    assert visible_steps(np.array([20.0, 30.0]), 4, DOMAIN, 330)[-1] == (1000.0, 0.5)
    assert visible_steps(np.array([]), 4, DOMAIN, 330) == []


def test_ticks_are_round() -> None:
    assert ticks((9.0, 600.0)) == [10, 20, 50, 100, 200, 500]
    assert ticks((0.6, 1.7)) == [0.6, 0.7, 0.8, 0.9, 1, 1.5]


@pytest.mark.parametrize("low", [0.0003, 0.7, 1.0, 3.3, 40.0, 9_999.0])
@pytest.mark.parametrize("factor", [2.0, 3.7, 10.0, 99.0, 1e4, 1e6])
def test_a_logarithmic_axis_has_at_least_three_ticks(low: float, factor: float) -> None:
    found = ticks((low, low * factor))
    assert len(found) >= 3
    assert all(low * (1 - 1e-6) <= at <= low * factor for at in found)


@pytest.mark.parametrize(("slow_ms", "said"), [(90.0, "ms"), (900.0, "ms (log)")])
def test_an_axis_below_a_factor_of_ten_is_linear_and_has_three_ticks(slow_ms: float, said: str) -> None:
    marks = [Mark("row", SERIES, at, at * 0.99, at * 1.01, "tip") for at in (30.0, slow_ms)]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", wide(intervals("a", "label", marks, "ms")))
    assert said in texts
    assert len([text for text in texts if re.fullmatch(r"[\d,.]+", text)]) >= 3
    assert is_logarithmic((30.0, slow_ms)) == said.endswith("(log)")


def test_a_mark_has_the_key_of_its_series_by_which_the_page_hides_it() -> None:
    first, second = looks([("h2", "builtin"), ("h2", "nghttp")])
    both = [Series(name, "h2", name, "", look) for name, look in (("builtin", first), ("nghttp", second))]
    svg = wide(intervals("a", "label", [Mark("row", each, 40.0, 39.0, 41.0, "tip") for each in both], "ms"))
    assert (first.key, second.key) == ("4", "4-1")
    keys = re.findall(r'data-series="([^"]*)"', svg)
    assert sorted(keys) == ["4", "4", "4-1", "4-1"], "a line and a point each"
    assert svg.count("var(--s4)") == 4, "variants share the colour"


def test_a_drawing_for_a_phone_is_no_wider_than_one(series: Series = SERIES) -> None:
    label = "initial-window-size 65535 B · lossy"
    for drawn in (
        bars("b", "label", [Bar(label, "h2", [1.0])], {"bytes": 0}, "bytes"),
        intervals("i", "label", [Mark(label, series, 40.0, 39.0, 41.0, "tip")], "ms"),
    ):
        assert drawn is not None
        [width] = re.findall(r'^<svg[^>]* width="(\d+)"', drawn.partition(NARROW)[2])
        assert int(width) <= 358
        assert f">{label}<" in drawn.partition(NARROW)[2]


def test_a_domain_of_one_value_is_widened() -> None:
    low, high = log_domain([40.0]) or (0.0, 0.0)
    assert low < 40 < high
    assert high / low == pytest.approx(2)
    assert log_domain([0.0]) is None


def test_a_chart_takes_its_colours_from_the_page() -> None:
    sample = Sample(SERIES, np.array([20.0, 40.0]), 2, [(40.0, 1.0, "50 % within 40 ms")])
    svg = ecdf("e", "label", [sample], DOMAIN)
    assert "var(--s4)" in svg
    assert re.findall(r"#01\d{4}", svg) == []
    assert 'data-tip="h2: 50 % within 40 ms"' in svg


def test_ids_of_two_charts_differ() -> None:
    mark = Mark("row", SERIES, 40.0, 39.0, 41.0, "tip")
    ids = [re.findall(r'id="([^"]*)"', str(intervals(name, "label", [mark], "ms"))) for name in ("a", "b")]
    assert ids[0] == [] or not set(ids[0]) & set(ids[1])


def test_a_label_is_escaped() -> None:
    svg = intervals("a", 'a "label" <b>', [Mark("<i>", SERIES, 40.0, 39.0, 41.0, "</svg>", 50.0)], "ms")
    assert svg is not None
    assert '<svg role="img" aria-label="a &#34;label&#34; &lt;b&gt;"' in svg
    assert svg.count("</svg>") == 2, "one for a wide page, one for a phone"
    assert "<i>" not in svg


def test_a_phase_that_did_not_happen_is_not_drawn() -> None:
    svg = str(bars("b", "label", [Bar("row", "h3", [None, 20.0])], {"connect": 0, "wait": 1}, "ms"))
    assert "var(--p0)" not in svg
    assert "var(--p1)" in svg
    assert bars("b", "label", [Bar("row", "h3", [None, None])], {"connect": 0, "wait": 1}, "ms") is None


def test_bars_of_several_scales_have_a_named_axis_each() -> None:
    slow, fast = Bar("slow", "h3", [None, 9000.0], "slow"), Bar("busy", "h3", [None, 20.0], "fast")
    parts = {"connect": 0, "wait": 1}
    apart = wide(bars("b", "label", [slow, fast], parts, "ms"))
    assert (apart.count(">slow<"), apart.count(">fast<"), apart.count(">busy<")) == (1, 1, 1)
    widths = [path_width(path) for path in re.findall(r'data-tip="[^"]*wait[^"]*"[^>]* d="([^"]*)"', apart)]
    assert len(widths) == 2
    assert widths[0] == pytest.approx(widths[1], rel=0.01), "each fills its own axis"


def test_a_row_of_small_values_has_its_own_axis() -> None:
    long, short = Bar("2 MB", "h2", [2e6]), Bar("30 B", "h2", [300.0])
    svg = wide(bars("b", "label", [long, short], {"bytes": 0}, "bytes"))
    widths = [path_width(path) for path in re.findall(r'data-tip="[^"]* bytes [^"]*"[^>]* d="([^"]*)"', svg)]
    assert len(widths) == 2
    assert widths[0] == pytest.approx(widths[1], rel=0.01)
    assert svg.count(">30 B<") == 1, "its row says which one it is"


def test_row_labels_are_not_truncated() -> None:
    label = "initial-window-size 65535 B · max-concurrent-streams 8 · lossy"
    assert f">{label}<" in str(bars("b", "label", [Bar(label, "h2", [1.0])], {"bytes": 0}, "bytes"))
    assert f">{label}<" in str(intervals("i", "label", [Mark(label, SERIES, 40.0, 39.0, 41.0, "tip")], "ms"))


def path_width(path: str) -> float:
    """Of a rectangle, as `Mx,yhwidth…`."""
    match = re.search(r"h(-?[\d.]+)", path)
    assert match is not None, path
    return abs(float(match[1]))
