"""Axes and series as every chart has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import altair as alt

from wirelab.report.model import Series
from wirelab.report.palette import INK, series_color

WIDTH, HEIGHT = 300, 190
NARROW = 300
"""Of a chart that fits a phone next to the numbers of its axis."""
DECADE = 10.0
"""An axis over a smaller factor is linear: a logarithmic one would have one or two round numbers."""
LEAST_WIDTH, MOST_WIDTH = 380, 660
"""The width of a chart next to its row labels."""
PAGE_WIDTH = 890
LETTER_WIDTH = 7


def color(series: Sequence[Series]) -> alt.Color:
    """Colour by series, without a legend: the page has one for all charts."""
    return alt.Color(
        "series:N", scale=_by_label(series, [series_color(s.look.slot, s.look.variant) for s in series]), legend=None
    )


def rows(labels: Sequence[str], extent: int = 0) -> alt.Y:
    """A row for each label, which is never cut; `extent` is the least width of the labels."""
    return alt.Y("row:N", sort=list(dict.fromkeys(labels)), title=None).axis(
        grid=True, tickBand="extent", ticks=False, domain=False, labelFontSize=12, labelColor=INK, labelLimit=0,
        minExtent=extent,
    )  # fmt: skip


def above_one_another(panel: alt.LayerChart, labels: Sequence[str]) -> alt.FacetChart:
    """A panel for each row with its label above it, for a page without room next to it."""
    header = alt.Header(labelOrient="top", labelAnchor="start", labelAngle=0, labelPadding=0, labelLimit=NARROW + 20)
    row = alt.Row("row:N", sort=list(labels), title=None, header=header)
    rows: alt.FacetChart = panel.facet(row=row, spacing=6).resolve_scale(y="independent")
    return rows


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


def time(domain: tuple[float, float], title: str, field: str = "x") -> alt.X:
    """An axis in milliseconds, linear below a factor of ten and logarithmic from there on, which its title says."""
    if is_logarithmic(domain):
        return log_time(domain, f"{title} (log)", field)
    scale = alt.Scale(domain=list(domain), nice=False, zero=False)
    axis = alt.Axis(tickCount=6, title=title, format=",~r", labelOverlap="greedy", tickSize=4)
    return alt.X(f"{field}:Q", scale=scale, axis=axis)


def is_logarithmic(domain: tuple[float, float]) -> bool:
    """Whether an axis over the domain is."""
    return domain[1] >= DECADE * domain[0]


def log_time(domain: tuple[float, float], title: str, field: str = "x") -> alt.X:
    """A logarithmic axis in milliseconds with ticks at 1, 2 and 5 times a power of ten."""
    return alt.X(
        f"{field}:Q",
        scale=alt.Scale(type="log", domain=list(domain), nice=False),
        axis=alt.Axis(values=ticks(domain), title=title, format=",~r", labelOverlap="greedy", tickSize=4),
    )


STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9), tuple(tenth / 10 for tenth in range(10, 100)))
"""Numbers times a power of ten at which a logarithmic axis has ticks, from few to many."""
LEAST_TICKS = 3


def ticks(domain: tuple[float, float]) -> list[float]:
    """1, 2 and 5 times each power of ten inside; powers of ten alone beyond three decades, and more numbers where these
    are fewer than three.
    """
    low, high = domain
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for steps in STEPS[0 if math.log10(high / low) > 3.2 else 1 :]:
        every = (round(step * 10.0**e, 12) for e in exponents for step in steps)
        found = [at for at in every if low <= at * (1 + 1e-9) and at <= high]
        if len(found) >= LEAST_TICKS:
            break
    return found


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
