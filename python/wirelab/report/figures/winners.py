"""Where each choice is first: a map over one or two numbers, and a specification curve over an operator's settings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.replicated import CURVE_WIDTH, ROW_HEIGHT, logarithmic
from wirelab.report.figures.scales import HEIGHT, data, label_width, log_domain, rows, width_beside
from wirelab.report.figures.svg import render
from wirelab.report.palette import FAINT, GRID, INK, MUTED, PAPER, series_color

WIDTH, STRIP, ROW = 560, 46, 44
"""Of a map; height of a strip, and of each row of a grid."""
MOST_HEIGHT = 420
LEAST = 15
"""Pixels: a smaller cell has no letter."""
DECADE = 10.0
SHADES = (0.55, 0.3, 0.14)
"""Of a colour, for the first, second and third choice of one protocol; letters can be read on them."""
ALIKE, NOTHING = "several are alike", "nothing is ranked"
SEVERAL, NONE = "=", "–"
TYPICAL = "typical settings"
SEVERAL_SHAPE = "M-1,-0.3L1,-0.3L1,0.3L-1,0.3Z"
LEGEND_ROW, KEY = 21, 24
LEAST_CURVE, COLUMN = 260, 14
MANY = 60
"""Columns of a curve: with more its points are small."""


@dataclass(frozen=True)
class Hue:
    """How a choice is drawn: its letter and shade in a map, its shape in a curve, and the colour of its protocol."""

    letter: str
    slot: int
    shade: float
    shape: str


@dataclass(frozen=True)
class Axis:
    """The points of a map along one number, from least to most, with their labels."""

    title: str
    values: Sequence[float]
    labels: Sequence[str]


@dataclass(frozen=True)
class Spot:
    """A point that was run, and the choices that are first there; `y` is None with one axis."""

    x: float
    y: float | None
    first: Sequence[str]
    tip: str


def winners(name: str, label: str, axes: Sequence[Axis], spots: Sequence[Spot], hues: Mapping[str, Hue]) -> Markup:
    """A cell for each point, coloured by the choice that is first, with its letter; white where several are alike. An
    axis is logarithmic if its values span more than a decade. The legend stands below.
    """
    across, up = axes[0], axes[1] if len(axes) > 1 else None
    height = STRIP if up is None else min(MOST_HEIGHT, ROW * len(up.values))
    columns = dict(zip(across.values, spans(across.values, WIDTH), strict=True))
    lines = {} if up is None else dict(zip(up.values, spans(up.values, height), strict=True))
    values = [
        _cell(spot, columns[spot.x], (0, height) if spot.y is None else lines[spot.y], hues) for spot in spots
    ]  # fmt: skip
    named = [each for each in hues if any(value["name"] == each for value in values)]
    others = [each for each in (ALIKE, NOTHING) if any(value["name"] == each for value in values)]
    fill = alt.Color("name:N", scale=_colors(named, hues, {ALIKE: PAPER, NOTHING: FAINT}), legend=None)
    x, y = (alt.Scale(domain=[0, length], nice=False) for length in (WIDTH, height))
    base = alt.Chart(data(values)).encode(description="tip:N")
    cells = base.mark_rect(stroke=GRID, strokeWidth=1.2).encode(
        alt.X("left:Q", scale=x, axis=_ticks(across, WIDTH)),
        alt.Y("bottom:Q", scale=y, axis=None if up is None else _ticks(up, height)),
        fill, _shade(), x2="right:Q", y2="top:Q",
    )  # fmt: skip
    letters = base.mark_text(color=INK, fontWeight="bold").encode(
        alt.X("middle:Q", scale=x), alt.Y("centre:Q", scale=y), text="letter:N"
    )
    chart = alt.layer(cells, letters).properties(width=WIDTH, height=height)
    legend = _legend([_entry(each, hues) for each in (*named, *others)], fill)
    return render(alt.vconcat(chart, legend, spacing=10), name, label)


def is_logarithmic(values: Iterable[float]) -> bool:
    """Whether values are above 0 and span more than a decade."""
    known = [*values]
    return min(known) > 0 and max(known) / min(known) > DECADE


def spans(values: Sequence[float], length: int) -> list[tuple[int, int]]:
    """Where the cell of each value begins and ends, in pixels: halfway to its neighbours."""
    at, (before, after) = _transformed(values), _frame(values)
    inner = [(one + other) / 2 for one, other in pairwise(at)]
    edges = [round((each - before) / (after - before) * length) for each in (before, *inner, after)]
    return list(pairwise(edges))


def places(values: Sequence[float], length: int) -> list[int]:
    """Where the tick of each value stands, in pixels."""
    before, after = _frame(values)
    return [round((each - before) / (after - before) * length) for each in _transformed(values)]


@dataclass(frozen=True)
class Combination:
    """A level of each setting, what ranks by the name of the choice, and those that are first."""

    values: Mapping[str, float | None]
    first: Sequence[str]
    levels: Sequence[str]
    tip: str
    typical: bool = False


@dataclass(frozen=True)
class Curve:
    """Combinations in the order of their columns. `title` says what ranks, and `levels` are the rows of dots."""

    title: str
    levels: Sequence[str]
    columns: Sequence[Combination]


def over_settings(name: str, label: str, curve: Curve, hues: Mapping[str, Hue]) -> Markup:
    """A column for each combination: what ranks of each choice above, filled for those that are first, and a mark for
    each of its levels below, in colour and shape of the choice that is first.
    """
    columns, levels = curve.columns, curve.levels
    drawn = [
        {
            "at": at,
            "name": each,
            "y": value,
            "first": each in column.first,
            "tip": f"{each}: {value:,.3g} {curve.title}; {column.tip}",
        }
        for at, column in enumerate(columns)
        for each in hues
        for value in [column.values.get(each)]
        if value is not None
    ]
    dots = [
        {"at": at, "row": level, "name": column.first[0] if len(column.first) == 1 else ALIKE, "tip": column.tip}
        for at, column in enumerate(columns)
        for level in column.levels
        if level in levels and column.first
    ]
    width = min(CURVE_WIDTH, max(COLUMN * len(columns), LEAST_CURVE), width_beside(label_width(levels or [""])))
    x = alt.X("at:O", axis=None, scale=alt.Scale(domain=[*range(len(columns))]))
    color = alt.Color("name:N", scale=_colors([*hues], hues, {ALIKE: INK}), legend=None)
    shapes = alt.Shape(
        "name:N",
        scale=alt.Scale(domain=[*hues, ALIKE], range=[*(each.shape for each in hues.values()), SEVERAL_SHAPE]),
        legend=None,
    )
    size = 60 if len(columns) <= MANY else 14
    below = alt.Chart(data(dots)).mark_point(filled=True, size=size, opacity=1).encode(
        x, rows(levels), color, shapes, description="tip:N"
    ).properties(width=width, height=alt.Step(ROW_HEIGHT - 3))  # fmt: skip
    if not drawn:
        return render(below, name, label)
    y = _what_ranks([float(str(row["y"])) for row in drawn], curve.title)
    base = alt.Chart(data(drawn)).encode(x, y, color, shapes, description="tip:N")
    typical = [{"at": at} for at, column in enumerate(columns) if column.typical]
    above = alt.layer(
        alt.Chart(data(typical)).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(
            x, description=alt.value(TYPICAL)
        ),
        base.transform_filter("!datum.first").mark_point(filled=False, size=size, strokeWidth=1.2, opacity=1),
        base.transform_filter("datum.first").mark_point(filled=True, size=size, opacity=1),
    ).properties(width=width, height=HEIGHT)  # fmt: skip
    if not levels:
        return render(above, name, label)
    return render(alt.vconcat(above, below, spacing=6).resolve_scale(x="shared"), name, label)


def _what_ranks(values: Sequence[float], title: str) -> alt.Y:
    domain = log_domain(values) if min(values) > 0 else None
    if domain is None:
        return alt.Y("y:Q", title=title, scale=alt.Scale(zero=False))
    return logarithmic("y", domain, title)


def _transformed(values: Sequence[float]) -> list[float]:
    """Logarithms over more than a decade. With a 0 as well, which has none: cells of equal width."""
    if is_logarithmic(values):
        return [math.log10(value) for value in values]
    positive = [value for value in values if value > 0]
    if positive and is_logarithmic(positive):
        return [float(at) for at in range(len(values))]
    return list(values)


def _frame(values: Sequence[float]) -> tuple[float, float]:
    """Where the first cell begins, and the last one ends: each is as wide on both sides of its value."""
    at = _transformed(values)
    if len(at) == 1:
        return at[0] - 0.5, at[0] + 0.5
    return at[0] - (at[1] - at[0]) / 2, at[-1] + (at[-1] - at[-2]) / 2


def _cell(
    spot: Spot, across: tuple[int, int], up: tuple[int, int], hues: Mapping[str, Hue]
) -> dict[str, str | float]:  # fmt: skip
    one = spot.first[0] if len(spot.first) == 1 else ALIKE if spot.first else NOTHING
    large = min(across[1] - across[0], up[1] - up[0]) >= LEAST
    found = _entry(one, hues)
    return {
        **found, "letter": found["letter"] if large else "", "left": across[0], "right": across[1], "bottom": up[0],
        "top": up[1], "middle": sum(across) / 2, "centre": sum(up) / 2, "tip": spot.tip,
    }  # fmt: skip


def _entry(name: str, hues: Mapping[str, Hue]) -> dict[str, str | float]:
    """How a cell of a choice looks."""
    if (hue := hues.get(name)) is not None:
        return {"name": name, "shade": hue.shade, "letter": hue.letter}
    return {"name": name, "shade": 0.3, "letter": NONE} if name == NOTHING else {
        "name": name, "shade": 1.0, "letter": SEVERAL
    }  # fmt: skip


def _colors(named: Sequence[str], hues: Mapping[str, Hue], others: Mapping[str, str]) -> alt.Scale:
    return alt.Scale(
        domain=[*named, *others], range=[*(series_color(hues[each].slot) for each in named), *others.values()]
    )


def _shade() -> alt.FillOpacity:
    return alt.FillOpacity("shade:Q", scale=None, legend=None)


def _ticks(axis: Axis, length: int) -> alt.Axis:
    """A tick with its label at each point that was run."""
    at = places(axis.values, length)
    words = f"{json.dumps([*axis.labels], ensure_ascii=False)}[indexof({json.dumps(at)}, datum.value)]"
    return alt.Axis(
        values=at, labelExpr=words, title=f"{axis.title} (log)" if is_logarithmic(axis.values) else axis.title,
        grid=False, domain=False, tickSize=4, labelOverlap="greedy", labelColor=INK,
    )  # fmt: skip


def _legend(entries: Sequence[Mapping[str, str | float]], fill: alt.Color) -> alt.LayerChart | alt.FacetChart:
    """A cell of each choice with its letter, and its name."""
    y = alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0.2))
    base = alt.Chart(data([{**entry, "row": at} for at, entry in enumerate(entries)])).encode(y, description="name:N")
    return alt.layer(
        base.mark_rect(stroke=GRID).encode(fill, _shade(), x=alt.value(0), x2=alt.value(KEY)),
        base.mark_text(color=INK, fontWeight="bold").encode(text="letter:N", x=alt.value(KEY / 2)),
        base.mark_text(color=INK, align="left", fontSize=12, limit=0).encode(text="name:N", x=alt.value(KEY + 8)),
    ).properties(width=WIDTH, height=alt.Step(LEGEND_ROW))
