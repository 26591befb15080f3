"""The delay of each message of a trial, one after another: who waited for whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import WIDTH, color, data, shape
from wirelab.report.figures.svg import render
from wirelab.report.model import Series

HEIGHT = 110


@dataclass(frozen=True)
class Delays:
    """Delays in milliseconds of one series' messages, in the order in which they were sent."""

    series: Series
    label: str
    numbers: Sequence[int]
    delays: Sequence[float]


def messages(name: str, label: str, panels: Sequence[Delays]) -> Markup:
    """A panel for each series, above one another on one axis."""
    most = max((max(panel.delays, default=0.0) for panel in panels), default=0.0) * 1.08 or 1.0
    series = [panel.series for panel in panels]
    values = [
        {"series": panel.series.label, "panel": panel.label, "x": number, "y": delay,
         "tip": f"{panel.label}, message {number}: {delay:,.0f} ms"}
        for panel in panels
        for number, delay in zip(panel.numbers, panel.delays, strict=True)
    ]  # fmt: skip
    last = max((number for panel in panels for number in panel.numbers), default=1)
    x = alt.X(
        "x:Q", scale=alt.Scale(domain=[0, last + 1], nice=False),
        axis=alt.Axis(title="number of the message", tickCount=5, tickSize=4, format=",~r"),
    )  # fmt: skip
    y = alt.Y(
        "y:Q", scale=alt.Scale(domain=[0, most], nice=False),
        axis=alt.Axis(title="delay, ms", tickCount=4, format=",~r", tickSize=0, domain=False),
    )  # fmt: skip
    point = alt.Chart(data(values)).mark_point(filled=True, size=14, opacity=1)
    chart = point.encode(x, y, color(series), shape(series), description="tip:N").properties(width=WIDTH, height=HEIGHT)
    header = alt.Header(labelOrient="top", labelAnchor="start", labelAngle=0, labelPadding=2)
    row = alt.Row("panel:N", sort=[panel.label for panel in panels], title=None, header=header)
    return render(chart.facet(row=row, spacing=10), name, label)
