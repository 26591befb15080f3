"""What a notebook shows of a campaign: its answer in short, and charts with the colours of the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import polars as pl

Frame = TypeVar("Frame")


@dataclass(frozen=True, repr=False)
class Chart(Generic[Frame]):
    """A chart for a notebook, with the points that it draws as `.data`."""

    data: Frame
    points: int
    html: str

    def __repr__(self) -> str:
        return f"<wirelab.Chart of {self.points:,} points>"

    def _repr_html_(self) -> str:
        return self.html


def in_short(folder: Path) -> str:
    """The answer of a campaign, its chart and its quality."""
    from wirelab.report.campaign import load
    from wirelab.report.snippet import answer

    return answer(load(folder, folder))


def distribution(folder: Path, frame: Callable[[pl.DataFrame], Frame]) -> Chart[Frame]:
    """The distribution of the headline metric in each condition. Raises `WirelabError` if it is no delay."""
    from wirelab.errors import WirelabError
    from wirelab.report.campaign import load
    from wirelab.report.sections.delays import points, section
    from wirelab.report.snippet import charts

    campaign = load(folder, folder)
    drawn = section(campaign)
    if drawn is None:
        what = f"the headline metric {campaign.metric} has no distribution of delays"
        raise WirelabError(what, hint="plot a column of .exchanges")
    data = points(campaign)
    return Chart(frame(data), len(data), charts(campaign, drawn))
