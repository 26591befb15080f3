"""Axes and series as every chart has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import altair as alt

from wirelab.report.model import Series
from wirelab.report.palette import INK, series_color

WIDTH, HEIGHT = 330, 190
LEAST_WIDTH, MOST_WIDTH = 380, 660
"""The width of a chart next to its row labels."""
PAGE_WIDTH = 890
LETTER_WIDTH = 7


def color(series: Sequence[Series]) -> alt.Color:
    """Colour by series, without a legend: the page has one for all charts."""
    return alt.Color("series:N", scale=_by_label(series, [series_color(s.look.slot) for s in series]), legend=None)


def rows(labels: Sequence[str], extent: int = 0) -> alt.Y:
    """A row for each label, which is never cut; `extent` is the least width of the labels."""
    return alt.Y("row:N", sort=list(dict.fromkeys(labels)), title=None).axis(
        grid=True, tickBand="extent", ticks=False, domain=False, labelFontSize=12, labelColor=INK, labelLimit=0,
        minExtent=extent,
    )  # fmt: skip


def label_width(labels: Iterable[str]) -> int:
    """Room for the longest of the rows' labels."""
    return LETTER_WIDTH * max(map(len, labels))


def width_beside(labels: int) -> int:
    """What labels of that width leave to a chart."""
    return max(LEAST_WIDTH, min(MOST_WIDTH, PAGE_WIDTH - labels))


def shape(series: Sequence[Series]) -> alt.Shape:
    """Shape by series."""
    return alt.Shape("series:N", scale=_by_label(series, [s.look.shape for s in series]), legend=None)


def dash(series: Sequence[Series]) -> alt.StrokeDash:
    """Dash by series."""
    dashes = [list(s.look.dash) or [1, 0] for s in series]
    return alt.StrokeDash("series:N", scale=_by_label(series, dashes), legend=None)


def log_time(domain: tuple[float, float], title: str, field: str = "x") -> alt.X:
    """A logarithmic axis in milliseconds with ticks at 1, 2 and 5 times a power of ten."""
    return alt.X(
        f"{field}:Q",
        scale=alt.Scale(type="log", domain=list(domain), nice=False),
        axis=alt.Axis(values=ticks(domain), title=title, format=",~r", labelOverlap="greedy", tickSize=4),
    )


def ticks(domain: tuple[float, float]) -> list[float]:
    """1, 2 and 5 times each power of ten inside; powers of ten alone beyond three decades."""
    low, high = domain
    steps = (1, 2, 5) if math.log10(high / low) <= 3.2 else (1,)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [
        step * 10.0**e
        for e in exponents
        for step in steps
        if low <= step * 10.0**e * (1 + 1e-9) and step * 10.0**e <= high
    ]


def log_domain(values: Iterable[float], margin: float = 0.04) -> tuple[float, float] | None:
    """A domain around positive values with a margin, at least a factor of two wide; None without any."""
    positive = [value for value in values if value > 0 and math.isfinite(value)]
    if not positive:
        return None
    low, high = math.log10(min(positive)), math.log10(max(positive))
    spare = max((high - low) * margin, (math.log10(2) - (high - low)) / 2)
    return 10 ** (low - spare), 10 ** (high + spare)


def data(rows: Sequence[Mapping[str, object]]) -> alt.InlineData:
    """Rows inside the chart's specification."""
    return alt.InlineData(values=list(rows))


def _by_label(series: Sequence[Series], range_: Sequence[str] | Sequence[Sequence[float]]) -> alt.Scale:
    return alt.Scale(domain=[s.label for s in series], range=range_)
