"""From one mean to another: a bar for each share of their difference, which begins where the last one ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import data
from wirelab.report.figures.svg import render
from wirelab.report.palette import INK, MUTED, PAPER, part_color

WIDTH = 400
"""A phone shows it whole."""
ROW_HEIGHT, BAR_HEIGHT = 32, 12
BAR_BELOW = 7
"""Pixels from the middle of a row to that of its bar: the name stands above the bar."""
MEAN, CAUSED, MEASURED, UNEXPLAINED, SMALL = 0, 3, 4, 5, 2
"""Places of colours: of the two means, of shares by how they are known, and of small ones together."""


@dataclass(frozen=True)
class Step:
    """One bar, in milliseconds: from 0 to `ms` if `whole`, else as much more or less than the bar before."""

    name: str
    ms: float
    words: str
    slot: int
    whole: bool = False


def bridge(name: str, label: str, steps: Sequence[Step]) -> Markup:
    """The first and the last step are the means."""
    ends: list[tuple[float, float]] = []
    for step in steps:
        at = 0.0 if step.whole or not ends else ends[-1][1]
        ends.append((at, at + step.ms))
    values = [
        {"row": row, "name": step.name, "from": begin, "to": end, "edge": max(begin, end), "words": step.words,
         "slot": str(step.slot), "tip": f"{step.name}: {step.words}"}
        for row, (step, (begin, end)) in enumerate(zip(steps, ends, strict=True))
    ]  # fmt: skip
    most = max(map(max, ends)) or 1.0
    slots = sorted({step.slot for step in steps})
    colors = alt.Scale(domain=[str(slot) for slot in slots], range=[part_color(slot) for slot in slots])
    y = alt.Y("row:O", axis=None, scale=alt.Scale(domain=list(range(len(steps))), paddingInner=0.25))
    scale = alt.Scale(domain=[0, most * 1.25], nice=False)
    x = alt.X("from:Q", scale=scale, axis=alt.Axis(title="ms", tickSize=4, tickCount=5, format=",~r"))
    base = alt.Chart(data(values)).encode(y, description="tip:N")
    follow = [{"row": row, "at": end} for row, (_, end) in enumerate(ends[:-1])]
    names = base.encode(x=alt.value(0), text="name:N")
    above = BAR_BELOW - BAR_HEIGHT - 2
    layers = (
        alt.Chart(data(follow))
        .mark_tick(color=MUTED, thickness=1, size=ROW_HEIGHT, yOffset=ROW_HEIGHT / 2 + BAR_BELOW)
        .encode(y, alt.X("at:Q", scale=scale, axis=None)),
        names.mark_text(align="left", dy=above, limit=0, fontSize=12, stroke=PAPER, strokeWidth=5),
        base.mark_bar(height=BAR_HEIGHT, yOffset=BAR_BELOW)
        .encode(x, alt.Color("slot:N", scale=colors, legend=None), x2="to:Q"),
        names.mark_text(align="left", dy=above, limit=0, fontSize=12, color=INK),
        base.mark_text(align="left", dx=5, dy=BAR_BELOW, color=INK, fontSize=11)
        .encode(alt.X("edge:Q", scale=scale, axis=None), text="words:N"),
    )  # fmt: skip
    return render(alt.layer(*layers).properties(width=WIDTH, height=alt.Step(ROW_HEIGHT)), name, label)
