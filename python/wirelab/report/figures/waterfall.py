"""The load of a page as a browser's developer tools draw it: a bar for each resource, from its discovery to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import data
from wirelab.report.figures.svg import render
from wirelab.report.palette import INK, MUTED, part_color

WIDTH = 300
ROW_HEIGHT = 14
THIN, THICK = 3, 10
"""Heights of what waits and of what is done."""
LABEL_WIDTH = 96


@dataclass(frozen=True)
class Lane:
    """One resource, in milliseconds from the load's start: when it was known, and how long each phase took, None for
    one that did not happen. `mark` stands behind the bar.
    """

    name: str
    start: float
    phases: Sequence[float | None]
    tip: str
    mark: str = ""


@dataclass(frozen=True)
class Fall:
    """The resources of a load in their order, when it ended, and how far the axis goes, so that loads can be compared;
    in milliseconds.
    """

    lanes: Sequence[Lane]
    end: float
    widest: float


def waterfall(name: str, label: str, fall: Fall, phases: Mapping[str, int]) -> Markup:
    """Draw a load, with a line at its end. `phases` gives each its colour's slot; the first, which is waiting for
    others, is thin.
    """
    lanes, end, thin = fall.lanes, fall.end, next(iter(phases))
    bars = []
    for row, lane in enumerate(lanes):
        at = lane.start
        for phase, took in zip(phases, lane.phases, strict=True):
            if took:
                bars.append({"row": row, "phase": phase, "from": at, "to": at + took, "tip": lane.tip})
                at += took
    ends = [
        {"row": row, "at": lane.start + sum(took for took in lane.phases if took), "mark": lane.mark}
        for row, lane in enumerate(lanes)
        if lane.mark
    ]
    names = [{"row": row, "name": lane.name, "tip": lane.tip} for row, lane in enumerate(lanes)]
    y = alt.Y("row:O", axis=None, scale=alt.Scale(domain=list(range(len(lanes))), paddingInner=0.1, paddingOuter=0.1))
    scale = alt.Scale(domain=[0, fall.widest], nice=False)
    axis = alt.Axis(title="ms after the navigation began", tickSize=4, tickCount=5, format=",~r")
    x = alt.X("from:Q", scale=scale, axis=axis)
    colors = alt.Scale(domain=list(phases), range=[part_color(slot) for slot in phases.values()])
    drawn = alt.Chart(data(bars)).encode(
        x, y, alt.Color("phase:N", scale=colors, legend=None), x2="to:Q", description="tip:N"
    )
    layers: list[alt.Chart] = [
        alt.Chart(data([{"end": end, "tip": f"the load ended after {end:,.1f} ms"}]))
        .mark_rule(color=MUTED, strokeDash=[3, 3])
        .encode(x=alt.X("end:Q", scale=scale, axis=axis), description="tip:N"),
        drawn.transform_filter(alt.datum.phase == thin).mark_bar(size=THIN, opacity=1),
        drawn.transform_filter(alt.datum.phase != thin).mark_bar(size=THICK, opacity=1),
        alt.Chart(data(names))
        .mark_text(align="right", dx=-6, limit=LABEL_WIDTH, color=INK, fontSize=10)
        .encode(y, x=alt.value(0), text="name:N", description="tip:N"),
        alt.Chart(data(ends))
        .mark_text(align="left", dx=4, color=MUTED, fontSize=10)
        .encode(y, x=alt.X("at:Q", scale=scale, axis=axis), text="mark:N"),
    ]
    return render(alt.layer(*layers).properties(width=WIDTH, height=alt.Step(ROW_HEIGHT)), name, label)
