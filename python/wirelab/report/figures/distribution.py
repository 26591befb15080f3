"""Every delay of a condition on one picture, all protocols together, as the empirical distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from wirelab.report.figures.scales import HEIGHT, WIDTH, color, dash, data, is_logarithmic, shape, time
from wirelab.report.figures.svg import render
from wirelab.report.model import Series


@dataclass(frozen=True)
class Sample:
    """Sorted delays in milliseconds of one series; `exchanges` counts also those without a delay.

    `marks` are (delay, share) to point out.
    """

    series: Series
    delays: npt.NDArray[np.float64]
    exchanges: int
    marks: Sequence[tuple[float, float, str]]


def ecdf(name: str, label: str, samples: Sequence[Sample], domain: tuple[float, float]) -> Markup:
    """Share of all exchanges that had completed within a delay.

    Ends below 1 where exchanges failed; nothing is filtered.
    """
    series = [sample.series for sample in samples]
    steps, points = [], []
    for sample in samples:
        protocol = sample.series.label
        corners = visible_steps(sample.delays, sample.exchanges, domain, WIDTH)
        steps += [{"series": protocol, "x": delay, "y": share} for delay, share in corners]
        points += [
            {"series": protocol, "x": x, "y": share, "tip": f"{protocol}: {tip}"} for x, share, tip in sample.marks
        ]
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, 1]), axis=_share_axis("share completed within"))
    line = alt.Chart(data(steps)).mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
    mark = alt.Chart(data(points)).mark_point(filled=True, size=42, opacity=1)
    chart = alt.layer(
        line.encode(time(domain, "delay, ms"), y, color(series), dash(series), description="series:N"),
        mark.encode(time(domain, "delay, ms"), y, color(series), shape(series), description="tip:N"),
    )
    return render(chart.properties(width=WIDTH, height=HEIGHT), name, label)


def visible_steps(
    delays: npt.NDArray[np.float64], exchanges: int, domain: tuple[float, float], width: float
) -> list[tuple[float, float]]:
    """Corners of the distribution's steps, leaving out those that share a pixel column with a later one."""
    if not len(delays) or not exchanges:
        return []
    shown, ends = np.maximum(delays, domain[0]), np.asarray(domain)
    if is_logarithmic(domain):
        shown, ends = np.log10(shown), np.log10(ends)
    columns = np.floor((shown - ends[0]) / (ends[1] - ends[0]) * width)
    last = np.append(np.flatnonzero(np.diff(columns)), len(delays) - 1)
    shares = (last + 1) / exchanges
    corners = [(float(delays[0]), 0.0), *((float(delays[i]), float(y)) for i, y in zip(last, shares, strict=True))]
    return [*corners, (domain[1], float(shares[-1]))]


def _share_axis(title: str) -> alt.Axis:
    return alt.Axis(format=".0%", title=title, tickCount=5, tickSize=0, domain=False)
