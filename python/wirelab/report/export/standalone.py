"""A chart of the report as an SVG file of its own: colours, font and legend inside, as wide as a column or a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup, escape
from PIL import ImageFont

from wirelab.report.blocks import LegendEntry
from wirelab.report.export.venues import Venue
from wirelab.report.figures.svg import FONT, FONTS, NARROW, font_face
from wirelab.report.palette import MARKS
from wirelab.report.snippet import resolved

FONT_FILE = FONTS / "Roboto-Regular.ttf"
TEXT_PX = 11
"""Of a legend."""
_TEXT = re.compile(r'font-size="([\d.]+)px"')
_SIZE = re.compile(r'\b(width|height)="([\d.]+)"')
_FOR_PAGES = re.compile(r' data-(?:tip|series)="[^"]*"')
_MARK, _GAP, _LINE, _EDGE = 40, 14, 20, 2
"""Pixels: width of a legend's mark, space between entries, height of a row, space at the left."""


@dataclass(frozen=True)
class Standalone:
    """A chart as SVG without its font. Sizes are in points; `spans` says that it needs the width of the page."""

    svg: str
    width_pt: float
    height_pt: float
    text_pt: float
    spans: bool

    @property
    def with_font(self) -> str:
        """The same as a file: with its font inside, and sizes in points, for a pixel is 1/96 of an inch in a file."""
        start = self.svg.index(">") + 1
        head = _SIZE.sub(r'\1="\2pt"', self.svg[:start], count=2)
        return f"{head}<style>{font_face()}</style>{self.svg[start:]}"


def standalone(drawn: str, label: str, entries: Sequence[LegendEntry], venue: Venue) -> Standalone:
    """A chart of the page, which may be two drawings for two widths, with the entries of its legend that it shows. It
    is as wide as a column if its text is then large enough, else as wide as the page.
    """
    drawings = drawn.split(NARROW)
    options = [(inner, venue.column_pt, False) for inner in drawings]
    options += [(inner, venue.text_pt, True) for inner in drawings]
    inner, width_pt, spans = next(filter(lambda each: _text_pt(*each[:2]) >= venue.least_pt, options), options[-1])
    width, height = _size(inner)
    shown = [each for each in entries if each.color in inner]
    legend, legend_height = _legend(shown, width)
    scale = width_pt / width
    text_pt = _text_pt(inner, width_pt)
    whole = height + legend_height
    body = _FOR_PAGES.sub("", inner[inner.index(">", inner.index("<svg")) + 1 : inner.rindex("</svg>")])
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width_pt:g}" height="{whole * scale:.2f}" '
        f'viewBox="0 0 {width:g} {whole:g}" font-family="{FONT}, sans-serif"><title>{escape(label)}</title>'
        f'{legend}<g transform="translate(0,{legend_height:g})">{body}</g></svg>'
    )
    return Standalone(str(resolved(svg)), width_pt, whole * scale, text_pt, spans)


def _text_pt(inner: str, width_pt: float) -> float:
    """Size of the smallest text, its legend's included, at this width."""
    return min([TEXT_PX, *map(float, _TEXT.findall(inner))]) * width_pt / _size(inner)[0]


def _size(inner: str) -> tuple[float, float]:
    """Width and height in pixels."""
    found = dict(_SIZE.findall(inner[: inner.index(">", inner.index("<svg"))]))
    return float(found["width"]), float(found["height"])


def _legend(entries: Sequence[LegendEntry], width: float) -> tuple[Markup, float]:
    """Entries in rows of at most this width, and the height of all rows."""
    x, y, placed = float(_EDGE), 0.0, []
    for entry in entries:
        needed = _MARK + 4 + _font().getlength(entry.text)
        if x > _EDGE and x + needed > width:
            x, y = float(_EDGE), y + _LINE
        placed.append(Markup('<g transform="translate({:g},{:g})">{}</g>').format(x, y, _entry(entry)))
        x += needed + _GAP
    return Markup("").join(placed), y + _LINE + 4 if placed else 0


def _entry(entry: LegendEntry) -> Markup:
    text = Markup('<text x="{}" y="12" font-size="{}px" fill="var(--ink)">{}</text>').format(
        _MARK + 4, TEXT_PX, entry.text
    )
    if entry.shape is None:
        return Markup('<path d="M8,3h24v10h-24Z" fill="{}"/>{}').format(entry.color, text)
    dash = Markup(' stroke-dasharray="{}"').format(entry.dash) if entry.dash else ""
    line = Markup('<path d="M0,8H{}" stroke="{}" stroke-width="2"{}/>').format(_MARK, entry.color, dash)
    return Markup('{}<path d="{}" fill="{}"/>{}').format(line, MARKS[entry.shape], entry.color, text)


@cache
def _font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(FONT_FILE), TEXT_PX)
