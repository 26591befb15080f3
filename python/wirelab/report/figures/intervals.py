"""A row per condition, a point with its interval per protocol on an axis of time, and the publication's number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import (
    NARROW,
    above_one_another,
    color,
    data,
    label_width,
    log_domain,
    rows,
    shape,
    time,
    width_beside,
)
from wirelab.report.figures.svg import both, render
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
    labels = list(dict.fromkeys(mark.row for mark in marks))
    kinds = {"above": any(mark.above for mark in marks), "published": any(m.published is not None for m in marks)}

    def layers(*where: alt.Y | alt.YOffset) -> alt.LayerChart:
        base = alt.Chart().encode(*where, color(series))
        drawn = [
            base.mark_rule(strokeWidth=2.4).encode(time(domain, title, "low"), x2="high:Q", description="tip:N"),
            base.transform_filter("!datum.above")
            .mark_point(filled=True, size=70, opacity=1)
            .encode(time(domain, title), shape(series), description="tip:N"),
        ]
        if kinds["above"]:
            beyond = base.transform_filter("datum.above").mark_point(shape="triangle-right", size=110, filled=False)
            drawn.append(beyond.encode(time(domain, title), description="tip:N"))
        if kinds["published"]:
            paper = base.transform_filter("isValid(datum.published)").mark_point(
                shape="stroke", size=170, strokeWidth=2.5, angle=90, filled=False
            )
            drawn.append(paper.encode(time(domain, title, "published"), description="paper:N"))
        return alt.LayerChart(data=data(values), layer=drawn)

    order = [each.label for each in series]
    offset = alt.YOffset("series:N", sort=order, scale=alt.Scale(paddingOuter=0.35))
    height = alt.Step(ROW_HEIGHT, **{"for": "position" if len(series) == 1 else "offset"})
    wide = layers(rows(labels), offset).properties(width=width_beside(label_width(labels)), height=height)
    alone = alt.Y("series:N", sort=order, axis=None, scale=alt.Scale(paddingOuter=0.2))
    narrow = layers(alone).properties(width=NARROW, height=alt.Step(ROW_HEIGHT))
    return both(render(wide, name, label), render(above_one_another(narrow, labels), f"{name}-narrow", label))
