"""Estimates and verdicts to one offline HTML page.

Computes no statistic: every number is looked up or counted, and raw data are only drawn.
"""

from __future__ import annotations

from pathlib import Path


def write(campaign: Path, out: Path | None = None) -> Path:
    """Write the report of a campaign directory, by default as `report.html` inside it, and return its path.

    Links to trials are relative to the page, so a page and its campaign move together.
    """
    from wirelab.report.page import write_page

    return write_page(campaign, out)
