"""The pictures of a replication: a forest plot of printed magnitudes, printed numbers against ours, a specification
curve of a claim over the grid of choices, and counts of points as strips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import HEIGHT, data, log_domain, log_time, rows, ticks
from wirelab.report.figures.svg import render
from wirelab.report.palette import BAD, FAINT, GOOD, INK, MUTED, UNSURE, series_color

ROW_HEIGHT = 19
MOST = 100.0
"""A ratio beyond this, or below its inverse, is drawn at the edge; its tip has the number."""
FLUSH = 12
"""So many pixels from an end a tick's label would leave the picture, and is written inwards."""
LEAST_FACTOR = 1.05
"""An axis reaches over twice this factor, whatever is drawn."""
EDGE = 10.0
"""Beyond the printed numbers by this factor, ours is drawn at the edge; its tip has the number."""
SCATTER_WIDTH = 360
CURVE_WIDTH = 620
Tone = Literal["good", "bad", "unsure", "none"]
TONES: dict[Tone, str] = {"good": GOOD, "bad": BAD, "unsure": UNSURE, "none": MUTED}
SHAPES: dict[Tone, str] = {"good": "circle", "bad": "cross", "unsure": "diamond", "none": "square"}
NULL_MARK = "M-1,-1L1,1M-1,1L1,-1"
"""Of what a null model predicts: two thin strokes, which no protocol has."""
NARROW = 300
"""Width of a picture of which two fit on a page side by side, and one on a phone."""


@dataclass(frozen=True)
class Ratio:
    """One number over another, such as ours over the publication's, in one row."""

    row: str
    point: float
    low: float | None
    high: float | None
    tone: Tone
    tip: str


@dataclass(frozen=True)
class RatioAxis:
    """The axis of a forest plot: the tolerance, as a factor either way, its title, and its width. It reaches `ends`
    too, so that several plots can have one axis.
    """

    factor: float
    title: str = "ours / paper"
    width: int = NARROW
    ends: Sequence[float] = ()


def forest(name: str, label: str, ratios: Sequence[Ratio], along: RatioAxis) -> Markup | None:
    """A row for each magnitude on a logarithmic axis, with the band of the tolerance; None without any."""
    factor, least = along.factor, max(along.factor, LEAST_FACTOR)
    if not ratios:
        return None
    values = [
        {
            "row": each.row, "x": _clamped(each.point), "low": _clamped(each.low or each.point),
            "high": _clamped(each.high or each.point), "tone": each.tone, "tip": each.tip,
        }
        for each in ratios
    ]  # fmt: skip
    ends = [end for row in values for end in (row["low"], row["high"]) if isinstance(end, float)]
    ends += map(_clamped, along.ends)
    domain = log_domain([*ends, 1 / least**2, least**2])
    assert domain is not None
    axis = alt.Axis(
        values=ticks(domain), title=along.title, format=",~r", labelOverlap="greedy", labelFlush=FLUSH, tickSize=4
    )
    x, low = (
        alt.X(f"{field}:Q", scale=alt.Scale(type="log", domain=list(domain), nice=False), axis=axis)
        for field in ("x", "low")
    )
    labels = [each.row for each in ratios]
    base = alt.Chart(data(values)).encode(rows(labels), _color())
    layers = [
        _fixed({"low": 1 / factor, "high": factor}).mark_rect(color=FAINT, opacity=0.22).encode(low, x2="high:Q"),
        _fixed({"low": 1.0}).mark_rule(color=MUTED).encode(low),
        base.mark_rule(strokeWidth=2.4).encode(low, x2="high:Q", description="tip:N"),
        base.mark_point(filled=True, size=70, opacity=1).encode(x, _shape(), description="tip:N"),
    ]
    chart = alt.layer(*layers).properties(width=along.width, height=alt.Step(ROW_HEIGHT))
    return render(chart, name, label)


@dataclass(frozen=True)
class Pair:
    """A printed number and ours, in the unit of the axes. `slot` and `shape` are the look of its protocol, and `null`
    is what a null model predicts.
    """

    paper: float
    ours: float
    low: float | None
    high: float | None
    slot: int
    shape: str
    null: float | None
    tip: str
    fitted: bool


def scatter(name: str, label: str, pairs: Sequence[Pair], factor: float, unit: str) -> Markup | None:
    """Printed numbers against ours, on logarithmic axes alike; fitted ones are hollow, and null models are crosses.
    None without any above 0.
    """
    drawn = [each for each in pairs if each.paper > 0 and each.ours > 0]
    printed = [each.paper for each in drawn]
    if not printed:
        return None
    edge = min(printed) / EDGE, max(printed) * EDGE
    domain = log_domain([min(max(value, edge[0]), edge[1]) for each in drawn for value in (each.paper, each.ours)])
    assert domain is not None
    values = [
        {
            "x": each.paper, "y": _between(each.ours, each.ours, domain), "low": _between(each.low, each.ours, domain),
            "high": _between(each.high, each.ours, domain), "slot": str(each.slot), "fitted": each.fitted,
            "shape": each.shape,
            "null": None if each.null is None else _between(each.null, each.null, domain), "tip": each.tip,
        }
        for each in drawn
    ]  # fmt: skip
    slots = sorted({each.slot for each in drawn})
    colors = alt.Scale(domain=[str(slot) for slot in slots], range=[series_color(slot) for slot in slots])
    x = log_time(domain, f"paper, {unit}")
    y, low = (logarithmic(field, domain, f"ours, {unit}") for field in ("y", "low"))
    edges = [{"x": at, "low": at / factor, "top": at * factor, "y": at} for at in domain]
    band = alt.Chart(data(edges)).mark_area(color=FAINT, opacity=0.22, clip=True).encode(x, low, y2="top:Q")
    line = alt.Chart(data(edges)).mark_line(color=MUTED, strokeWidth=1, clip=True).encode(x, y)
    base = alt.Chart(data(values)).encode(x, alt.Color("slot:N", scale=colors, legend=None), description="tip:N")
    marked = base.encode(y, alt.Shape("shape:N", scale=None))
    crosses = alt.Chart(data([row for row in values if row["null"] is not None])).encode(
        x, logarithmic("null", domain, f"ours, {unit}")
    )
    layers = [
        band, line, crosses.mark_point(shape=NULL_MARK, size=34, color=MUTED, strokeWidth=1.3, opacity=1),
        base.mark_rule(strokeWidth=1.6).encode(low, y2="high:Q"),
        marked.transform_filter("!datum.fitted").mark_point(filled=True, size=55, opacity=1),
        marked.transform_filter("datum.fitted").mark_point(filled=False, size=55, strokeWidth=1.8),
    ]  # fmt: skip
    chart = alt.layer(*layers).resolve_scale(y="shared").properties(width=SCATTER_WIDTH, height=SCATTER_WIDTH * 0.8)
    return render(chart, name, label)


@dataclass(frozen=True)
class Specification:
    """A claim at one point of the grid: the estimate, if it has one, and the level of each choice in words."""

    value: float | None
    low: float | None
    high: float | None
    tone: Tone
    levels: Sequence[str]
    tip: str


@dataclass(frozen=True)
class CurveAxis:
    """The axis of a specification curve: its title, and what the paper prints, if it prints a number."""

    title: str
    paper: float | None = None


def curve(name: str, label: str, points: Sequence[Specification], levels: Sequence[str], along: CurveAxis) -> Markup:
    """Points in the order of their estimates, with the levels of choices that differ below them, and a dashed line at
    what the paper prints.
    """
    values = [
        {
            "at": at, "y": each.value, "low": each.low if each.low is not None else each.value,
            "high": each.high if each.high is not None else each.value, "tone": each.tone, "tip": each.tip,
        }
        for at, each in enumerate(points)
    ]  # fmt: skip
    marks = [
        {"at": at, "row": level, "tone": each.tone, "tip": each.tip}
        for at, each in enumerate(points)
        for level in each.levels
        if level in levels
    ]
    width = min(CURVE_WIDTH, max(14 * len(points), 260))
    x = alt.X("at:O", axis=None)
    below = alt.Chart(data(marks)).mark_tick(thickness=3, orient="vertical", bandSize=11).encode(
        x, rows(levels), _color(), description="tip:N"
    ).properties(width=width, height=alt.Step(ROW_HEIGHT - 3))  # fmt: skip
    if all(each.value is None for each in points):
        return render(below, name, label)
    positive = all(each.value is None or each.value > 0 for each in points)
    ends = [v for each in points for v in (each.value, each.low, each.high) if v]
    bounds = log_domain([*ends, *([along.paper] if along.paper else [])]) if positive else None
    y, low = (
        alt.Y(f"{field}:Q", title=along.title, scale=alt.Scale(zero=False)) if bounds is None
        else logarithmic(field, (max(bounds[0], 1 / MOST), min(bounds[1], MOST)), along.title)
        for field in ("y", "low")
    )  # fmt: skip
    base = alt.Chart(data(values)).encode(x, _color(), description="tip:N")
    line = _fixed({"y": along.paper or 1.0}).mark_rule(color=MUTED, strokeDash=[5, 3], clip=True).encode(y)
    above = alt.layer(
        _fixed({"y": 1.0}).mark_rule(color=MUTED, clip=True).encode(y),
        *([line] if along.paper else []),
        base.mark_rule(strokeWidth=2, clip=True).encode(low, y2="high:Q"),
        base.mark_point(filled=True, size=45, opacity=1, clip=True).encode(y),
    ).properties(width=width, height=HEIGHT)  # fmt: skip
    return render(alt.vconcat(above, below, spacing=6).resolve_scale(x="shared"), name, label)


@dataclass(frozen=True)
class Strip:
    """The points of one claim that count, by verdict; `instead` of a bar, if it has one."""

    row: str
    confirmed: int
    not_decided: int
    contradicted: int
    instead: str = ""

    @property
    def points(self) -> int:
        """All of them."""
        return self.confirmed + self.not_decided + self.contradicted


def strips(name: str, label: str, claims: Sequence[Strip]) -> Markup | None:
    """For each claim, the shares of points that confirm it, decide nothing, and contradict it; None without points."""
    if not any(each.points for each in claims):
        return None
    parts: list[tuple[Tone, str]] = [("good", "confirmed"), ("unsure", "not_decided"), ("bad", "contradicted")]
    values, ends = [], []
    for each in claims:
        start = 0.0
        for tone, key in [] if each.instead else parts:
            count = getattr(each, key)
            end = start + count / max(each.points, 1)
            tip = f"{each.row}: {key.replace('_', ' ')} at {count} of {each.points} points"
            values.append({"row": each.row, "x": start, "end": end, "tone": tone, "tip": tip})
            start = end
        words = f"{each.confirmed} / {each.contradicted} of {each.points}" if each.points else "no point"
        ends.append({"row": each.row, "x": start, "words": each.instead or words})
    labels = [each.row for each in claims]
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, 1.16], nice=False)).axis(
        title="share of the points that were run", format=".0%", values=[0, 0.25, 0.5, 0.75, 1], tickSize=4
    )
    bars = alt.Chart(data(values)).mark_bar(height=11, opacity=0.85).encode(
        x, rows(labels), _color(), x2="end:Q", description="tip:N"
    )  # fmt: skip
    words = alt.Chart(data(ends)).mark_text(align="left", dx=6, color=INK).encode(x, rows(labels), text="words:N")
    return render(alt.layer(bars, words).properties(width=NARROW, height=alt.Step(ROW_HEIGHT - 3)), name, label)


def logarithmic(field: str, domain: tuple[float, float], title: str) -> alt.Y:
    """A logarithmic axis with ticks at 1, 2 and 5 times a power of ten."""
    return alt.Y(
        f"{field}:Q",
        scale=alt.Scale(type="log", domain=list(domain), nice=False),
        axis=alt.Axis(values=ticks(domain), title=title, format=",~r", labelOverlap="greedy", tickSize=4),
    )


def _color() -> alt.Color:
    return alt.Color("tone:N", scale=alt.Scale(domain=list(TONES), range=list(TONES.values())), legend=None)


def _shape() -> alt.Shape:
    return alt.Shape("tone:N", scale=alt.Scale(domain=list(SHAPES), range=list(SHAPES.values())), legend=None)


def _fixed(row: dict[str, float]) -> alt.Chart:
    return alt.Chart(data([row]))


def _clamped(ratio: float) -> float:
    return min(max(ratio, 1 / MOST), MOST)


def _between(bound: float | None, value: float, domain: tuple[float, float]) -> float:
    return min(max(value if bound is None else bound, domain[0]), domain[1])
