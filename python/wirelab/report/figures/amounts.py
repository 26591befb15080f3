"""A bar for each of a few amounts, with its words at its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import NARROW, above_one_another, data, label_width, rows, width_beside
from wirelab.report.figures.svg import both, render
from wirelab.report.palette import MUTED, series_color

ROW_HEIGHT = 26
ROOM, MOST_TICKS = 1.45, 5
"""The axis is so many times as long as the longest bar, for the words at its end, and has so many steps at most."""


@dataclass(frozen=True)
class Amount:
    """One bar: its label, its value with the ends of its interval, the slot of its colour, and its words."""

    label: str
    value: float
    low: float | None
    high: float | None
    slot: int
    words: str


def amounts(name: str, label: str, bars: Sequence[Amount], title: str) -> Markup:
    """Draw the bars from 0, in their order; `title` is that of the axis."""
    labels = [bar.label for bar in bars]
    most = max([bar.high or bar.value for bar in bars] + [bar.value for bar in bars]) or 1.0
    values = [
        {"row": bar.label, "x": bar.value, "low": bar.value if bar.low is None else bar.low,
         "high": bar.value if bar.high is None else bar.high, "color": series_color(bar.slot), "words": bar.words,
         "end": max(bar.value, bar.high or 0.0), "tip": f"{bar.label}: {bar.words}"}
        for bar in bars
    ]  # fmt: skip
    scale = alt.Scale(domain=[0, most * ROOM], nice=False)
    axis = alt.Axis(title=title, values=_ticks(most), tickSize=4, format=",~r", labelOverlap="greedy")

    def layers(*where: alt.Y) -> alt.LayerChart:
        base = alt.Chart().encode(*where, description="tip:N")
        x = alt.X("x:Q", scale=scale, axis=axis)
        return alt.LayerChart(
            data=data(values),
            layer=[
                base.mark_bar(height=11).encode(x, alt.Color("color:N", scale=None, legend=None)),
                base.transform_filter("datum.high > datum.low")
                .mark_rule(strokeWidth=2, color=MUTED)
                .encode(alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"),
                base.mark_text(align="left", dx=5, color=MUTED, fontSize=11).encode(
                    alt.X("end:Q", scale=scale, axis=axis), text="words:N"
                ),
            ],
        )

    height = alt.Step(ROW_HEIGHT)
    wide = layers(rows(labels)).properties(width=min(width_beside(label_width(labels)), 420), height=height)
    narrow = layers(alt.Y("row:N", axis=None)).properties(width=NARROW, height=height)
    return both(render(wide, name, label), render(above_one_another(narrow, labels), f"{name}-narrow", label))


def _ticks(most: float) -> list[float]:
    """Round numbers from 0 to the longest bar: beyond it there are words."""
    power = 10.0 ** math.floor(math.log10(most))
    step = next(step for step in (0.2 * power, 0.5 * power, power, 2 * power) if most / step <= MOST_TICKS)
    return [round(step * number, 9) for number in range(math.floor(most / step + 1e-9) + 1)]
