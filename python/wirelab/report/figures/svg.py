"""An Altair chart to SVG for the page.

Colours become CSS variables, ids become unique, coordinates lose digits nobody can see.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import vl_convert
from markupsafe import Markup

from wirelab.errors import RunError
from wirelab.limits import require_to_draw
from wirelab.report.palette import FAINT, GRID, INK, MUTED, css_variables, series_keys

if TYPE_CHECKING:
    import altair as alt

VEGA_LITE = "6.4"
FONT = "Roboto"
FONTS = Path(__file__).parents[2] / "data" / "fonts"
"""With the font, so that text is measured and shown alike on every machine."""

NARROW = '<div class="narrow">'
"""Where the drawing for a phone begins."""

AXIS = {
    "labelColor": MUTED, "titleColor": MUTED, "gridColor": GRID, "domainColor": FAINT, "tickColor": FAINT,
    "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "titlePadding": 6, "labelPadding": 4,
    "labelSeparation": 6,
}  # fmt: skip


def render(chart: alt.TopLevelMixin, name: str, label: str) -> Markup:
    """Draw a chart; `name` must be unique in the page, `label` is what a screen reader says."""
    styled = chart.configure(
        background="transparent", font=FONT, padding=2, view={"stroke": None}, axis=AXIS,
        text={"color": INK, "fontSize": 11}, header={"labelColor": INK, "labelFontSize": 12, "title": None},
    )  # fmt: skip
    from altair.utils import schemapi

    spec = styled.to_dict(validate=schemapi.DEBUG_MODE)
    require_to_draw()
    register_fonts()
    try:
        svg: str = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    except ValueError as error:
        raise RunError(f"the figure {name} cannot be drawn: {' '.join(str(error).split())}") from None
    svg = _SERIES.sub(_keyed, svg)
    for sentinel, variable in css_variables().items():
        svg = svg.replace(sentinel, variable)
    for pattern, replacement in _CLEAN:
        svg = pattern.sub(replacement, svg)
    # Vega numbers its ids from one counter for all charts that a process draws.
    for number, id_ in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg))):
        svg = re.sub(rf'(\bid="|url\(#){re.escape(id_)}(?=["\)])', rf"\1{name}-{number}", svg)
    svg = re.sub(r"(?<= d=\")[^\"]*", lambda path: _shorten(path[0]), svg)
    svg = re.sub(r"(?<=translate\()[^)]*", lambda pair: _shorten(pair[0]), svg)
    return Markup(f'<svg role="img" aria-label="{Markup.escape(label)}"') + Markup(svg.removeprefix("<svg"))


@contextmanager
def unchecked() -> Iterator[None]:
    """Charts are made without comparing each of their parts with the schema of Vega-Lite, which takes a quarter of a
    report's time. What is drawn is the same; tests of charts compare them.
    """
    from altair.utils import schemapi

    with schemapi.debug_mode(False):
        yield


@cache
def register_fonts() -> None:
    """Make the font known to the library that draws, once a process."""
    vl_convert.register_font_directory(str(FONTS))


@cache
def font_face() -> str:
    """The font as a rule of CSS that needs no other file."""
    encoded = base64.b64encode((FONTS / "Roboto-Regular.woff2").read_bytes()).decode("ascii")
    return f'@font-face {{ font-family: {FONT}; src: url("data:font/woff2;base64,{encoded}"); }}'


def both(wide: Markup, narrow: Markup) -> Markup:
    """Two drawings of one chart, of which the page shows the one that has room."""
    return Markup('<div class="wide">{}</div>{}{}</div>').format(wide, Markup(NARROW), narrow)


# The page sets the font of charts, and needs no roles inside an image, no invisible background; a tip shows on hover.
_CLEAN = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r" font-family=[\"']Roboto[\"']", ""),
        (r' (?:xmlns|xmlns:xlink|version|aria-roledescription|aria-hidden|pointer-events|display|role)="[^"]*"', ""),
        (r' aria-label="[XY]-axis[^"]*"', ""),
        (r"aria-label=", "data-tip="),
        (r' (?:stroke-width|opacity)="1"', ""),
        (r'<path class="(?:background|foreground)"[^>]*?(?: fill="transparent")?/>', ""),
        (r'<rect width="[^"]*" height="[^"]*" fill="transparent"/>', ""),
        (r"<g></g>|<g/>", ""),
    )
]


_SERIES = re.compile(r"<(\w+)( [^>]*?(#[01][0-9a-f]01[0-9a-f]{2})[^>]*>)")
"""A tag with the sentinel of a series."""


def _keyed(tag: re.Match[str]) -> str:
    """The tag with the key of its series, by which the page shows and hides it."""
    key = series_keys().get(tag[3])
    return tag[0] if key is None else f'<{tag[1]} data-series="{key}"{tag[2]}'


def _shorten(path: str) -> str:
    return re.sub(r"-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), path)
