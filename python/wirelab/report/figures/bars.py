"""A bar per scenario made of parts: phases of an exchange, bytes of each direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import NARROW, above_one_another, data, label_width, rows, width_beside
from wirelab.report.figures.svg import both, render
from wirelab.report.palette import INK, MUTED, part_color

BAR_HEIGHT = 17
VANISHES = 0.1
"""Of the longest bar of its scale: a row whose bars are all shorter has a scale of its own."""
OWN_SCALE = "Small values have their own axis."
ROOM, NARROW_ROOM = 1.25, 1.6
"""Length of an axis over the longest bar, so that there is room for the words at its end."""


@dataclass(frozen=True)
class Bar:
    """One bar; `parts` has a value per part, None where the part did not happen. Bars of one `scale` share an axis.
    `note` stands after the series' name at its end.
    """

    row: str
    series: str
    parts: Sequence[float | None]
    scale: str = ""
    note: str = ""

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
    wide, narrow = (_panels(drawn, parts, unit, narrow=narrow) for narrow in (False, True))
    return both(render(wide, name, label), render(narrow, f"{name}-narrow", label))


def _panels(drawn: Sequence[Bar], parts: Mapping[str, int], unit: str, *, narrow: bool) -> alt.TopLevelMixin:
    extent = label_width(bar.row for bar in drawn)
    panels: list[alt.LayerChart | alt.FacetChart] = []
    for scale in dict.fromkeys(bar.scale for bar in drawn):
        mine = [bar for bar in drawn if bar.scale == scale]
        panel = _narrow(mine, parts, unit) if narrow else _panel(mine, parts, unit, extent)
        has_scale = all(scale in bar.row for bar in mine)
        title = alt.Title(scale, anchor="start", fontSize=12, color=INK)
        panels.append(panel if has_scale else panel.properties(title=title))
    if len(panels) == 1:
        return panels[0]
    column: alt.VConcatChart = alt.vconcat(*panels, spacing=8).resolve_scale(x="independent", y="independent")
    return column


def _scaled(drawn: Sequence[Bar]) -> list[Bar]:
    longest: dict[str, float] = {}
    for bar in drawn:
        for key in (f"scale {bar.scale}", f"row {bar.row}"):
            longest[key] = max(longest.get(key, 0.0), bar.length)
    small = {bar.row for bar in drawn if longest[f"row {bar.row}"] < VANISHES * longest[f"scale {bar.scale}"]}
    return [replace(bar, scale=bar.row) if bar.row in small else bar for bar in drawn]


def _panel(bars: Sequence[Bar], parts: Mapping[str, int], unit: str, extent: int) -> alt.LayerChart:
    """Rows with their labels next to them."""
    names = list(dict.fromkeys(bar.series for bar in bars))
    offset = alt.YOffset("series:N", sort=names, scale=alt.Scale(paddingOuter=0.3, paddingInner=0.25))
    where = rows([bar.row for bar in bars], extent), offset
    height = alt.Step(BAR_HEIGHT, **{"for": "offset"})
    return _layers(bars, parts, unit, where, ROOM).properties(width=width_beside(extent), height=height)


def _narrow(bars: Sequence[Bar], parts: Mapping[str, int], unit: str) -> alt.FacetChart:
    """Rows with their labels above them."""
    names = list(dict.fromkeys(bar.series for bar in bars))
    alone = alt.Y("series:N", sort=names, axis=None, scale=alt.Scale(paddingOuter=0.1, paddingInner=0.25))
    panel = _layers(bars, parts, unit, (alone,), NARROW_ROOM).properties(width=NARROW, height=alt.Step(BAR_HEIGHT))
    return above_one_another(panel, list(dict.fromkeys(bar.row for bar in bars)))


def _layers(
    bars: Sequence[Bar], parts: Mapping[str, int], unit: str, where: Sequence[alt.Y | alt.YOffset], room: float
) -> alt.LayerChart:
    values = [
        {
            "row": bar.row, "series": bar.series, "part": part, "order": i, "value": value,
            "tip": f"{bar.row}, {bar.series}: {part} {value:,.3g} {unit}",
        }
        for bar in bars
        for i, (part, value) in enumerate(zip(parts, bar.parts, strict=True))
        if value is not None
    ]  # fmt: skip
    ends = [
        {"row": bar.row, "series": bar.series, "end": bar.length, "words": f"{bar.series}{bar.note}"} for bar in bars
    ]
    widest = max(bar.length for bar in bars) or 1.0
    axis = alt.Axis(title=unit, tickSize=4, tickCount=7, format=",~r", labelOverlap="greedy")
    scale = alt.Scale(domain=[0, widest * room], nice=False)
    colors = alt.Scale(domain=list(parts), range=[part_color(slot) for slot in parts.values()])
    drawn = alt.Chart().transform_filter("isValid(datum.value)").mark_bar(opacity=1).encode(
        alt.X("value:Q", scale=scale, axis=axis), *where, alt.Color("part:N", scale=colors, legend=None),
        order="order:Q", description="tip:N",
    )  # fmt: skip
    named = alt.Chart().transform_filter("isValid(datum.end)").mark_text(align="left", dx=5, color=MUTED).encode(
        alt.X("end:Q", scale=scale, axis=axis), *where, text="words:N"
    )  # fmt: skip
    return alt.LayerChart(data=data([*values, *ends]), layer=[drawn, named])
