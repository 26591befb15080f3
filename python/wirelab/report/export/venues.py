"""Where a figure will stand: how wide it may be, and how small its text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Venue:
    """Widths of a column and of the page's text, the height of a page, and the smallest text, in points (1/72 inch)."""

    column_pt: float
    text_pt: float
    height_pt: float
    least_pt: float


VENUES = {
    "ieee": Venue(column_pt=252, text_pt=516, height_pt=696, least_pt=7),
    "acm": Venue(column_pt=240, text_pt=506, height_pt=626, least_pt=7),
    "slides": Venue(column_pt=420, text_pt=860, height_pt=500, least_pt=12),
}
"""Of the templates IEEEtran (two columns) and acmart (sigconf), and of a slide of 960 by 540 points."""
