"""A bar per scenario made of parts: phases of an exchange, bytes of each direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import data, label_width, rows, width_beside
from wirelab.report.figures.svg import render
from wirelab.report.palette import INK, MUTED, part_color

BAR_HEIGHT = 17
VANISHES = 0.1
"""Of the longest bar of its scale: a row whose bars are all shorter has a scale of its own."""
OWN_SCALE = "Small values have their own axis."


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
    each scale under its name unless its rows say that already. A row that would vanish on its scale has its own.
    """
    drawn = _scaled([bar for bar in bars if any(part is not None for part in bar.parts)])
    if not drawn:
        return None
    scales = list(dict.fromkeys(bar.scale for bar in drawn))
    extent = label_width(bar.row for bar in drawn)
    panels = []
    for scale in scales:
        mine = [bar for bar in drawn if bar.scale == scale]
        panel = _panel(mine, parts, unit, extent)
        has_scale = all(scale in bar.row for bar in mine)
        title = alt.Title(scale, anchor="start", fontSize=12, color=INK)
        panels.append(panel if has_scale else panel.properties(title=title))
    if len(panels) == 1:
        return render(panels[0], name, label)
    return render(alt.vconcat(*panels, spacing=8).resolve_scale(x="independent", y="independent"), name, label)


def _scaled(drawn: Sequence[Bar]) -> list[Bar]:
    longest: dict[str, float] = {}
    for bar in drawn:
        for key in (f"scale {bar.scale}", f"row {bar.row}"):
            longest[key] = max(longest.get(key, 0.0), bar.length)
    small = {bar.row for bar in drawn if longest[f"row {bar.row}"] < VANISHES * longest[f"scale {bar.scale}"]}
    return [replace(bar, scale=bar.row) if bar.row in small else bar for bar in drawn]


def _panel(bars: Sequence[Bar], parts: Mapping[str, int], unit: str, extent: int) -> alt.LayerChart | alt.FacetChart:
    values = [
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
    y = rows([bar.row for bar in bars], extent)
    offset = alt.YOffset("series:N", sort=names, scale=alt.Scale(paddingOuter=0.3, paddingInner=0.25))
    widest = max(bar.length for bar in bars) or 1.0
    x = alt.X("value:Q", scale=alt.Scale(domain=[0, widest * 1.12], nice=False)).axis(
        title=unit, tickSize=4, tickCount=7, format=",~r"
    )
    colors = alt.Scale(domain=list(parts), range=[part_color(slot) for slot in parts.values()])
    drawn = alt.Chart(data(values)).mark_bar(opacity=1).encode(
        x, y, offset, alt.Color("part:N", scale=colors, legend=None), order="order:Q", description="tip:N"
    )  # fmt: skip
    named = alt.Chart(data(ends)).mark_text(align="left", dx=5, color=MUTED).encode(x, y, offset, text="series:N")
    height = alt.Step(BAR_HEIGHT, **{"for": "offset"})
    return alt.layer(drawn, named).properties(width=width_beside(extent), height=height)
