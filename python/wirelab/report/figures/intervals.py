"""A row per condition, a point with its interval per protocol on a logarithmic axis, and the publication's number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import color, data, label_width, log_domain, log_time, rows, shape, width_beside
from wirelab.report.figures.svg import render
from wirelab.report.model import Series

ROW_HEIGHT = 17


@dataclass(frozen=True)
class Mark:
    """One series in one row, in milliseconds; `published` is the publication's number. With `above`, all that is known
    is that it lies above the point.
    """

    row: str
    series: Series
    point: float
    low: float | None
    high: float | None
    tip: str
    published: float | None = None
    above: bool = False


def intervals(name: str, label: str, marks: Sequence[Mark], title: str) -> Markup | None:
    """Draw the rows in the order of the marks; None if there is nothing to draw."""
    values = [
        {
            "row": mark.row, "series": mark.series.label, "x": mark.point, "low": mark.low or mark.point,
            "high": mark.high or mark.point, "tip": mark.tip, "published": mark.published,
            "above": mark.above, "paper": f"{mark.series.label}, publication: {mark.published} ms",
        }
        for mark in marks
    ]  # fmt: skip
    domain = log_domain(
        [v for mark in marks for v in (mark.point, mark.low, mark.high, mark.published) if v is not None]
    )
    if domain is None:
        return None
    series = list({mark.series.label: mark.series for mark in marks}.values())
    labels = [mark.row for mark in marks]
    offset = alt.YOffset("series:N", sort=[s.label for s in series], scale=alt.Scale(paddingOuter=0.35))
    base = alt.Chart(data(values)).encode(rows(labels), offset, color(series))
    layers = [
        base.mark_rule(strokeWidth=2.4).encode(log_time(domain, title, "low"), x2="high:Q", description="tip:N"),
        base.transform_filter("!datum.above")
        .mark_point(filled=True, size=70, opacity=1)
        .encode(log_time(domain, title), shape(series), description="tip:N"),
    ]
    if any(mark.above for mark in marks):
        beyond = base.transform_filter("datum.above").mark_point(shape="triangle-right", size=110, filled=False)
        layers.append(beyond.encode(log_time(domain, title), description="tip:N"))
    if any(mark.published is not None for mark in marks):
        paper = base.transform_filter("isValid(datum.published)").mark_point(
            shape="stroke", size=170, strokeWidth=2.5, angle=90, filled=False
        )
        layers.append(paper.encode(log_time(domain, title, "published"), description="paper:N"))
    height = (
        alt.Step(ROW_HEIGHT, **{"for": "position"}) if len(series) == 1 else alt.Step(ROW_HEIGHT, **{"for": "offset"})
    )
    return render(alt.layer(*layers).properties(width=width_beside(label_width(labels)), height=height), name, label)
