"""Maps of which choice is first, and curves over settings."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from wirelab.report.figures.winners import (
    Axis,
    Combination,
    Curve,
    Hue,
    Spot,
    is_logarithmic,
    over_settings,
    places,
    spans,
    winners,
)

HUES = {"one": Hue("A", 10, 0.55, "circle"), "other": Hue("B", 13, 0.55, "square")}
INTERVALS = (60.0, 600.0, 3600.0, 86400.0)
BY_INTERVAL = Axis("a message every", INTERVALS, ("1 min", "10 min", "1 h", "24 h"))
BY_LOSS = Axis("loss", (0.0, 0.01), ("0 %", "1 %"))


TIPS = ("typical", "flipped")


def texts(svg: str) -> list[str]:
    """What is written in a picture."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def strip(*firsts: tuple[str, ...]) -> str:
    """A map along intervals."""
    spots = [Spot(x, None, first, f"at {x:g}") for x, first in zip(INTERVALS, firsts, strict=False)]
    return str(winners("map", "a map", [BY_INTERVAL], spots, HUES))


@pytest.mark.parametrize(
    ("values", "logarithmic"),
    [((1.0, 10.0), False), ((1.0, 10.1), True), ((0.0, 100.0), False), ((60.0,), False)],
)
def test_an_axis_is_logarithmic_beyond_a_decade(values: tuple[float, ...], logarithmic: bool) -> None:
    assert is_logarithmic(values) is logarithmic


def test_cells_meet_halfway_and_fill_the_axis() -> None:
    assert spans((1.0, 2.0, 4.0), 90) == [(0, 20), (20, 50), (50, 90)]
    for values in (INTERVALS, (0.0, 0.001, 0.01, 0.1), (5.0,), (0.0, 0.01)):
        cells = spans(values, 560)
        assert (cells[0][0], cells[-1][1]) == (0, 560)
        assert all(one[1] == other[0] for one, other in pairwise(cells))
        assert all(low < at < high for at, (low, high) in zip(places(values, 560), cells, strict=True))


def test_a_factor_is_a_distance_on_a_logarithmic_axis() -> None:
    first, second, third = places((1.0, 10.0, 100.0), 300)
    assert second - first == third - second == 100


def test_0_next_to_decades_gives_cells_of_equal_width() -> None:
    assert spans((0.0, 0.001, 0.01, 0.1), 400) == [(0, 100), (100, 200), (200, 300), (300, 400)]


def test_a_strip_has_readable_ticks_a_letter_for_each_cell_and_a_legend() -> None:
    svg = strip(("other",), ("one", "other"), ("one",), ("one",))
    said = texts(svg)
    assert said[:5] == ["1 min", "10 min", "1 h", "24 h", "a message every (log)"]
    assert said[5:9] == ["B", "=", "A", "A"]
    assert said[9:] == ["A", "B", "=", "one", "other", "several are alike"]
    assert "var(--s10)" in svg and "var(--s13)" in svg and "var(--paper)" in svg
    assert 'data-tip="at 600"' in svg
    assert re.findall(r"#01\d{4}", svg) == []


def test_a_legend_names_what_is_drawn() -> None:
    said = texts(strip(("one",), ("one",), (), ("one",)))
    assert "other" not in said and "several are alike" not in said
    assert said[-1] == "nothing is ranked"


def test_a_grid_has_a_cell_for_each_point_that_was_run() -> None:
    spots = [Spot(60.0, 0.0, ("one",), "tip 1"), Spot(3600.0, 0.01, ("other",), "tip 2")]
    svg = str(winners("map", "a grid", [BY_INTERVAL, BY_LOSS], spots, HUES))
    assert len(set(re.findall(r'data-tip="(tip \d)"', svg))) == 2
    assert {"0 %", "1 %", "loss", "1 min", "24 h"} <= set(texts(svg))


def test_a_small_cell_has_no_letter() -> None:
    values = [float(x) for x in range(100, 200)]
    axis = Axis("size", values, [f"{x:g} B" for x in values])
    svg = str(winners("map", "m", [axis], [Spot(x, None, ("one",), f"{x:g}") for x in values], HUES))
    assert texts(svg).count("A") == 1, "the legend's"


def test_a_label_is_text() -> None:
    axis = Axis('a "quoted" <b>', (1.0, 2.0), ('1 "B"', "2 \\ <i>"))
    svg = str(winners("map", "m", [axis], [Spot(1.0, None, ("one",), "</svg>")], HUES))
    assert svg.count("</svg>") == 1
    assert "<i>" not in svg and "<b>" not in svg
    assert "2 \\ &lt;i&gt;" in texts(svg)


def columns(**values: float | None) -> list[Combination]:
    """Two combinations: the first choice is first in one, and both are alike in the other."""
    return [
        Combination(values, ("one",), ("nat 5 min", "sleep 10 s"), TIPS[0], typical=True),
        Combination(values, ("one", "other"), ("nat 30 s", "sleep 10 s"), TIPS[1]),
    ]


def test_a_curve_has_a_mark_for_each_value_and_each_level() -> None:
    levels = ["nat 5 min", "nat 30 s"]
    svg = str(over_settings("c", "a curve", Curve("mJ", levels, columns(one=1.0, other=20.0)), HUES))
    tips = re.findall(r'data-tip="([^"]*)"', svg)
    values = [f"{name}: {value} mJ; {tip}" for name, value in (("one", 1), ("other", 20)) for tip in TIPS]
    assert sorted(tips) == sorted([*values, *TIPS, "typical settings"])
    assert {"nat 5 min", "nat 30 s", "mJ"} <= set(texts(svg))
    assert "sleep 10 s" not in texts(svg), "it does not vary"
    assert svg.count("stroke-dasharray") == 1, "the typical one"


def test_a_choice_that_is_not_ranked_somewhere_has_no_mark_there() -> None:
    svg = str(over_settings("c", "a curve", Curve("mJ", ["nat 30 s"], columns(one=1.0, other=None)), HUES))
    assert 'data-tip="other:' not in svg
    nothing = str(over_settings("c", "a curve", Curve("mJ", ["nat 30 s"], columns(one=None)), HUES))
    assert "mJ" not in texts(nothing) and "nat 30 s" in texts(nothing)


def test_a_curve_without_levels_or_above_0_is_drawn() -> None:
    assert "mJ" in texts(str(over_settings("c", "a curve", Curve("mJ", [], columns(one=0.0, other=2.0)), HUES)))
