"""The pictures of an enumeration: probabilities by the loss rate, with bounds, and what losing each packet costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
from markupsafe import Markup

from wirelab.report.figures.scales import HEIGHT, WIDTH, color, dash, data, time
from wirelab.report.figures.svg import render
from wirelab.report.model import Series
from wirelab.report.palette import INK, MUTED, series_color

ROW_HEIGHT = 15
COST_WIDTH = 250
LABEL_WIDTH = 150


@dataclass(frozen=True)
class Band:
    """P(delay > x) of one series at each loss rate, from below and from above; all as shares of 1."""

    series: Series
    rates: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def by_rate(name: str, label: str, bands: Sequence[Band], title: str) -> Markup:
    """A band for each series: the value lies in it."""
    series = [band.series for band in bands]
    values = [
        {"series": band.series.label, "x": rate, "low": low, "high": high,
         "tip": f"{band.series.label}, loss {rate:.1%}: {low:.3%} to {high:.3%}"}
        for band in bands
        for rate, low, high in zip(band.rates, band.low, band.high, strict=True)
    ]  # fmt: skip
    axis = alt.Axis(format="~%", title="loss rate, each way", tickSize=4, tickCount=6)
    base = alt.Chart(data(values)).encode(
        alt.X("x:Q", axis=axis), color(series), description="tip:N",
    )  # fmt: skip
    y_axis = alt.Axis(format="~%", title=title, tickCount=5, tickSize=0, domain=False)
    area = base.mark_area(opacity=0.3).encode(alt.Y("low:Q", axis=y_axis), alt.Y2("high:Q"))
    ends = [
        base.mark_line(strokeWidth=1.6).encode(alt.Y(f"{end}:Q", axis=y_axis), dash(series)) for end in ("low", "high")
    ]
    return render(alt.layer(area, *ends).properties(width=WIDTH, height=HEIGHT), name, label)


@dataclass(frozen=True)
class Price:
    """What losing one packet costs, in milliseconds; `words` stand at its end. None if the exchange then has no end, or
    if its loss was not run.
    """

    packet: str
    cost_ms: float | None
    words: str


def prices(name: str, label: str, slot: int, packets: Sequence[Price]) -> Markup:
    """A bar for each packet, in the order in which they were sent."""
    values = [
        {"row": row, "packet": each.packet, "cost": max(each.cost_ms or 0.0, 0.0), "words": each.words,
         "tip": f"{each.packet}: {each.words}"}
        for row, each in enumerate(packets)
    ]  # fmt: skip
    y = alt.Y("row:O", axis=None, scale=alt.Scale(domain=list(range(len(packets))), paddingInner=0.2))
    most = max([each.cost_ms or 0.0 for each in packets] + [1.0])
    x = alt.X(
        "cost:Q",
        scale=alt.Scale(domain=[0, most * 1.35], nice=False),
        axis=alt.Axis(title="ms that its loss adds", tickSize=4, tickCount=4, format=",~r"),
    )
    base = alt.Chart(data(values)).encode(y, description="tip:N")
    layers = (
        base.mark_bar(height=9, color=series_color(slot)).encode(x),
        base.mark_text(align="right", dx=-6, limit=LABEL_WIDTH, color=INK, fontSize=10).encode(
            x=alt.value(0), text="packet:N"
        ),
        base.mark_text(align="left", dx=4, color=MUTED, fontSize=10).encode(x, text="words:N"),
    )
    return render(alt.layer(*layers).properties(width=COST_WIDTH, height=alt.Step(ROW_HEIGHT)), name, label)


LEAST_SHARE = 1e-4
"""Where the axis of small probabilities begins."""


@dataclass(frozen=True)
class Tail:
    """P(delay > x) of one series: between two lines by enumeration, and of a sample. Delays in milliseconds."""

    series: Series
    delays: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    sampled: Sequence[float]


def exceedance(name: str, label: str, tails: Sequence[Tail]) -> Markup:
    """A band for each series, and points for its sample, on logarithmic axes."""
    series = [tail.series for tail in tails]
    values = [
        {"series": tail.series.label, "x": x, "low": max(low, LEAST_SHARE), "high": max(high, LEAST_SHARE),
         "sampled": share if share >= LEAST_SHARE else None,
         "tip": f"{tail.series.label}, {x:,.0f} ms: {low:.2%} to {high:.2%}, sample {share:.2%}"}
        for tail in tails
        for x, low, high, share in zip(tail.delays, tail.low, tail.high, tail.sampled, strict=True)
    ]  # fmt: skip
    domain = (min(tail.delays[0] for tail in tails), max(tail.delays[-1] for tail in tails))
    scale = alt.Scale(type="log", domain=[LEAST_SHARE, 1], nice=False)
    axis = alt.Axis(format="~%", title="share of exchanges that take longer", tickCount=5, tickSize=0, domain=False)
    base = alt.Chart(data(values)).encode(time(domain, "delay, ms"), color(series), description="tip:N")
    area = base.mark_area(opacity=0.35, interpolate="step-after", clip=True).encode(
        alt.Y("low:Q", scale=scale, axis=axis), alt.Y2("high:Q")
    )
    lines = [
        base.mark_line(strokeWidth=1.6, interpolate="step-after", clip=True).encode(
            alt.Y(f"{end}:Q", scale=scale, axis=axis), dash(series)
        )
        for end in ("low", "high")
    ]
    points = base.mark_point(filled=True, size=9, clip=True).encode(alt.Y("sampled:Q", scale=scale, axis=axis))
    return render(alt.layer(area, *lines, points).properties(width=WIDTH, height=HEIGHT), name, label)
