"""Mean one-way delay of a stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wirelab.stats.loss_model import draw_weights, share_below

Json = Mapping[str, Any]
Floats = NDArray[np.float64]

CELLS = 4096
"""Equal steps of probability over which a distribution is averaged."""
LARGEST_JITTERS = 32767 / 8192
"""netem's tables end there."""


def mean_delay_ns(stage: Json, spans_ns: Sequence[int] = ()) -> float:
    """What a stage adds to a packet's delay on average, without queues and other packets' doing; of a schedule, over
    trials that last so long.
    """
    match stage["kind"]:
        case "delay" if stage.get("jitter") is None:
            return float(stage["delay_ns"])
        case "delay":
            edges = np.linspace(0, 1, CELLS + 1)
            offsets = _quantiles(stage["jitter"], (edges[:-1] + edges[1:]) / 2)
            delays = np.maximum(stage["delay_ns"] + offsets, 0)
            return float(draw_weights(edges, stage.get("correlation", 0.0)) @ delays)
        case "reorder":
            return float(share_below(stage["probability"], stage.get("correlation", 0.0)) * stage["by_ns"])
        case "schedule":
            return mean_over_time(stage, "delay_ns", 0.0, spans_ns)
    return 0.0


def jitter_reach_ns(stage: Json) -> float:
    """How far jitter moves 999 of 1,000 packets from their mean delay at most."""
    if stage.get("jitter") is None:
        return 0.0
    ends = np.maximum(stage["delay_ns"] + _quantiles(stage["jitter"], np.array([0.0005, 0.9995])), 0)
    return float(np.abs(ends - mean_delay_ns(stage)).max())


def mean_over_time(stage: Json, key: str, absent: float, spans_ns: Sequence[int] = ()) -> float:
    """A value of a schedule over trials that last so long, each of which begins it anew. Without them over the time in
    which it repeats; where it does not, what holds at its end.
    """
    points = stage["points"]
    values = [absent if point.get(key) is None else float(point[key]) for point in points]
    repeat_ns = stage.get("repeat_ns")
    if not sum(spans_ns):
        if repeat_ns is None:
            return values[-1]
        spans_ns = [repeat_ns]
    begins = [point["at_ns"] for point in points]
    ends = [*begins[1:], float("inf") if repeat_ns is None else repeat_ns]

    def within(span: float) -> float:
        return float(
            sum(max(min(end, span) - at, 0) * value for at, end, value in zip(begins, ends, values, strict=True))
        )

    total = 0.0
    for span in spans_ns:
        whole, rest = (0, span) if repeat_ns is None else divmod(span, repeat_ns)
        total += whole * within(repeat_ns or 0) + within(rest)
    return total / sum(spans_ns)


def _quantiles(jitter: Json, probabilities: Floats) -> Floats:
    """Offsets from the mean delay in ns, as `crates/wirelab-link/src/impairment/jitter.rs` has them."""
    from scipy.special import ndtri

    match jitter["distribution"]:
        case "normal":
            return np.asarray(jitter["sigma_ns"] * ndtri(probabilities))
        case "uniform":
            return np.asarray(jitter["half_width_ns"] * (2 * probabilities - 1))
        case "pareto":
            return np.asarray(jitter["sigma_ns"] * _pareto(probabilities))
        case "pareto-normal":
            return np.asarray(jitter["sigma_ns"] * (0.25 * ndtri(probabilities) + 0.75 * _pareto(probabilities)))
    offsets = np.asarray(jitter["offsets_ns"], dtype=np.float64)
    return np.interp(probabilities, np.linspace(0, 1, len(offsets)), offsets)


def _pareto(probabilities: Floats) -> Floats:
    """iproute2, netem/pareto.c: shape 3, less its mean of 3/2, by 4/3, cut where a table's entry ends."""
    return np.asarray(np.minimum(4 / 3 * ((1 - probabilities) ** (-1 / 3) - 1.5), LARGEST_JITTERS))
