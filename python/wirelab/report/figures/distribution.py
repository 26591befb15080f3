"""Every delay of a condition on one picture, all protocols together: the empirical distribution and the histogram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from wirelab.report.figures.scales import HEIGHT, WIDTH, color, dash, data, log_time, shape
from wirelab.report.figures.svg import render
from wirelab.report.model import Series

BINS_PER_DECADE = 24


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
        line.encode(log_time(domain, "delay, ms (log)"), y, color(series), dash(series), description="series:N"),
        mark.encode(log_time(domain, "delay, ms (log)"), y, color(series), shape(series), description="tip:N"),
    )
    return render(chart.properties(width=WIDTH, height=HEIGHT), name, label)


def histogram(name: str, label: str, samples: Sequence[Sample], domain: tuple[float, float]) -> Markup:
    """Share of exchanges in bins of equal width on the logarithmic axis."""
    edges = bin_edges(domain)
    rows: list[dict[str, object]] = []
    for sample in samples:
        counts = bin_counts(sample.delays, edges)
        heights = [*(counts / max(sample.exchanges, 1)), 0.0]
        rows += [{"series": sample.series.label, "x": x, "y": y} for x, y in zip(edges, heights, strict=True)]
    series = [sample.series for sample in samples]
    chart = (
        alt.Chart(data(rows))
        .mark_area(interpolate="step-after", fillOpacity=0.13, line={"strokeWidth": 1.5}, clip=True)
        .encode(
            log_time(domain, "delay, ms (log)"),
            alt.Y("y:Q", stack=None, axis=_share_axis("share of exchanges")),
            color(series),
            dash(series),
            description="series:N",
        )
    )
    return render(chart.properties(width=WIDTH, height=HEIGHT), name, label)


def visible_steps(
    delays: npt.NDArray[np.float64], exchanges: int, domain: tuple[float, float], width: float
) -> list[tuple[float, float]]:
    """Corners of the distribution's steps, leaving out those that share a pixel column with a later one."""
    if not len(delays) or not exchanges:
        return []
    low, high = math.log10(domain[0]), math.log10(domain[1])
    columns = np.floor((np.log10(np.maximum(delays, domain[0])) - low) / (high - low) * width)
    last = np.append(np.flatnonzero(np.diff(columns)), len(delays) - 1)
    shares = (last + 1) / exchanges
    corners = [(float(delays[0]), 0.0), *((float(delays[i]), float(y)) for i, y in zip(last, shares, strict=True))]
    return [*corners, (domain[1], float(shares[-1]))]


def bin_edges(domain: tuple[float, float]) -> npt.NDArray[np.float64]:
    """Edges of the histogram's bins: 24 to a decade, aligned to powers of ten."""
    first = math.floor(math.log10(domain[0]) * BINS_PER_DECADE)
    last = math.ceil(math.log10(domain[1]) * BINS_PER_DECADE)
    return 10 ** (np.arange(first, last + 1) / BINS_PER_DECADE)


def bin_counts(delays: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """How many delays each bin holds."""
    return np.histogram(delays, edges)[0].astype(np.int64)


def _share_axis(title: str) -> alt.Axis:
    return alt.Axis(format=".0%", title=title, tickCount=5, tickSize=0, domain=False)
