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
LABEL_WIDTH = 230


@dataclass(frozen=True)
class Bar:
    """One bar; `parts` has a value per part, None where the part did not happen. Bars of one `scale` share an axis."""

    row: str
    series: str
    parts: Sequence[float | None]
    scale: str = ""

    @property
    def length(self) -> float:
        """Of all its parts."""
        return sum(part for part in self.parts if part is not None)


def bars(name: str, label: str, bars: Sequence[Bar], parts: Mapping[str, int], unit: str) -> Markup | None:
    """Draw the bars from 0, in their order, each with its series' name at its end; None if there is nothing to draw.

    `parts` gives each part of a bar, in order, its colour's slot. Bars of several scales are drawn below one another,
    each scale under its name unless its rows say that already.
    """
    drawn = [bar for bar in bars if any(part is not None for part in bar.parts)]
    if not drawn:
        return None
    scales = list(dict.fromkeys(bar.scale for bar in drawn))
    label_width = min(LABEL_WIDTH, 7 * max(len(bar.row) for bar in drawn))
    panels = []
    for scale in scales:
        mine = [bar for bar in drawn if bar.scale == scale]
        panel = _panel(mine, parts, unit, label_width)
        told = all(scale in bar.row for bar in mine)
        title = alt.Title(scale, anchor="start", fontSize=12, color=INK)
        panels.append(panel if told else panel.properties(title=title))
    if len(panels) == 1:
        return render(panels[0], name, label)
    return render(alt.vconcat(*panels, spacing=8).resolve_scale(x="independent", y="independent"), name, label)


def _panel(
    bars: Sequence[Bar], parts: Mapping[str, int], unit: str, label_width: int
) -> alt.LayerChart | alt.FacetChart:
    rows = [
        {
            "row": bar.row, "series": bar.series, "part": part, "order": i, "value": value,
            "tip": f"{bar.row}, {bar.series}: {part} {value:,.3g} {unit}",
        }
        for bar in bars
        for i, (part, value) in enumerate(zip(parts, bar.parts, strict=True))
        if value is not None
    ]  # fmt: skip
    ends = [{"row": bar.row, "series": bar.series, "value": bar.length} for bar in bars]
    names = list(dict.fromkeys(bar.series for bar in bars))
    y = alt.Y("row:N", sort=list(dict.fromkeys(bar.row for bar in bars)), title=None).axis(
        grid=True, tickBand="extent", ticks=False, domain=False, labelFontSize=12, labelColor=INK,
        labelLimit=LABEL_WIDTH, minExtent=label_width,
    )  # fmt: skip
    offset = alt.YOffset("series:N", sort=names, scale=alt.Scale(paddingOuter=0.3, paddingInner=0.25))
    widest = max(bar.length for bar in bars) or 1.0
    x = alt.X("value:Q", scale=alt.Scale(domain=[0, widest * 1.12], nice=False)).axis(
        title=unit, tickSize=4, tickCount=7, format=",~r"
    )
    colors = alt.Scale(domain=list(parts), range=[part_color(slot) for slot in parts.values()])
    drawn = alt.Chart(data(rows)).mark_bar(opacity=1).encode(
        x, y, offset, alt.Color("part:N", scale=colors, legend=None), order="order:Q", description="tip:N"
    )  # fmt: skip
    named = alt.Chart(data(ends)).mark_text(align="left", dx=5, color=MUTED).encode(x, y, offset, text="series:N")
    height = alt.Step(BAR_HEIGHT, **{"for": "offset"})
    return alt.layer(drawn, named).properties(width=WIDTH, height=height)
