"""A bar per scenario made of parts: phases of an exchange, bytes of each direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import data
from wirelab.report.figures.svg import render
from wirelab.report.palette import INK, MUTED, part_color

WIDTH = 660
BAR_HEIGHT = 17


@dataclass(frozen=True)
class Bar:
    """One bar; `parts` has a value per part, None where the part did not happen."""

    row: str
    series: str
    parts: Sequence[float | None]


def bars(name: str, label: str, bars: Sequence[Bar], parts: Mapping[str, int], unit: str) -> Markup | None:
    """Draw the bars from 0, in their order, each with its series' name at its end; None if there is nothing to draw.

    `parts` gives each part of a bar, in order, its colour's slot.
    """
    rows = [
        {
            "row": bar.row, "series": bar.series, "part": part, "order": i, "value": value,
            "tip": f"{bar.row}, {bar.series}: {part} {value:,.3g} {unit}",
        }
        for bar in bars
        for i, (part, value) in enumerate(zip(parts, bar.parts, strict=True))
        if value is not None
    ]  # fmt: skip
    if not rows:
        return None
    lengths = [sum(value for value in bar.parts if value is not None) for bar in bars]
    ends = [{"row": b.row, "series": b.series, "value": length} for b, length in zip(bars, lengths, strict=True)]
    names = list(dict.fromkeys(bar.series for bar in bars))
    y = alt.Y("row:N", sort=list(dict.fromkeys(bar.row for bar in bars)), title=None).axis(
        grid=True, tickBand="extent", ticks=False, domain=False, labelLimit=230, labelFontSize=12, labelColor=INK
    )
    offset = alt.YOffset("series:N", sort=names, scale=alt.Scale(paddingOuter=0.3, paddingInner=0.25))
    widest = max(lengths) or 1.0
    x = alt.X("value:Q", scale=alt.Scale(domain=[0, widest * 1.12], nice=False)).axis(
        title=unit, tickSize=4, tickCount=7, format=",~r"
    )
    colors = alt.Scale(domain=list(parts), range=[part_color(slot) for slot in parts.values()])
    drawn = alt.Chart(data(rows)).mark_bar(opacity=1).encode(
        x, y, offset, alt.Color("part:N", scale=colors, legend=None), order="order:Q", description="tip:N"
    )  # fmt: skip
    named = alt.Chart(data(ends)).mark_text(align="left", dx=5, color=MUTED).encode(x, y, offset, text="series:N")
    height = alt.Step(BAR_HEIGHT, **{"for": "offset"})
    return render(alt.layer(drawn, named).properties(width=WIDTH, height=height), name, label)
