"""A map over two factors of a grid: a tile for each pair of levels, coloured by a series, with words in it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import LETTER_WIDTH, data
from wirelab.report.figures.svg import render
from wirelab.report.model import Series
from wirelab.report.palette import GRID, INK, MUTED, PAPER, series_color

WIDTH = 560
LEAST_WIDTH, MOST_WIDTH = 58, 150
HEIGHT = 40
SHADE = 0.3
"""Of a series' colour, so that the words on it can be read on paper and on a dark page."""


@dataclass(frozen=True)
class Tile:
    """One pair of levels. Without a series it is not coloured, and its words are of lesser weight."""

    x: str
    y: str
    series: Series | None
    words: str
    figure: str
    tip: str


def tiles(name: str, label: str, tiles: Sequence[Tile]) -> Markup:
    """Draw a map; levels stand in the order of the tiles."""
    columns, rows = (list(dict.fromkeys(levels)) for levels in zip(*((tile.x, tile.y) for tile in tiles), strict=True))
    width = min(MOST_WIDTH, max(LEAST_WIDTH, WIDTH // len(columns)))
    values = [
        {
            "x": _lines(tile.x, width), "y": tile.y, "words": tile.words, "figure": tile.figure, "tip": tile.tip,
            "series": tile.series.label if tile.series else "", "decided": tile.series is not None,
        }
        for tile in tiles
    ]  # fmt: skip
    series = list({tile.series.label: tile.series for tile in tiles if tile.series is not None}.values())
    colors = alt.Scale(
        domain=["", *(s.label for s in series)], range=[PAPER, *(series_color(s.look.slot) for s in series)]
    )
    base = alt.Chart(data(values)).encode(
        alt.X("x:N", sort=[_lines(level, width) for level in columns], title=None).axis(
            labelAngle=0,
            labelExpr=r"split(datum.label, '\n')",
            labelLimit=0,
            labelPadding=5,
            ticks=False,
            domain=False,
            labelColor=INK,
        ),
        alt.Y("y:N", sort=rows, title=None).axis(
            ticks=False, domain=False, labelLimit=0, labelColor=INK, labelFontSize=12
        ),
    )
    most = width - 6
    decided, open_ = base.transform_filter("datum.decided"), base.transform_filter("!datum.decided")
    layers = [
        base.mark_rect(stroke=GRID, fillOpacity=SHADE, opacity=1).encode(
            alt.Color("series:N", scale=colors, legend=None), description="tip:N"
        ),
        decided.mark_text(dy=-6, fontWeight="bold", limit=most, color=INK).encode(text="words:N", description="tip:N"),
        decided.mark_text(dy=9, limit=most, color=INK).encode(text="figure:N", description="tip:N"),
        open_.mark_text(dy=-6, limit=most, color=MUTED).encode(text="words:N", description="tip:N"),
        open_.mark_text(dy=9, limit=most, color=MUTED).encode(text="figure:N", description="tip:N"),
    ]
    chart = alt.layer(*layers).properties(width=width * len(columns), height=HEIGHT * len(rows))
    return render(chart, name, label)


def _lines(level: str, width: int) -> str:
    """A level above its column, in as many lines as it takes."""
    return "\n".join(textwrap.wrap(level, width // LETTER_WIDTH)) or level
