"""Mean one-way delay of a stage."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
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


def mean_delay_ns(stage: Json) -> float:
    """What a stage adds to a packet's delay on average, without queues and other packets' doing."""
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
            return mean_over_time(stage, "delay_ns", 0.0)
    return 0.0


def jitter_reach_ns(stage: Json) -> float:
    """How far jitter moves 999 of 1,000 packets from their mean delay at most."""
    if stage.get("jitter") is None:
        return 0.0
    ends = np.maximum(stage["delay_ns"] + _quantiles(stage["jitter"], np.array([0.0005, 0.9995])), 0)
    return float(np.abs(ends - mean_delay_ns(stage)).max())


def mean_over_time(stage: Json, key: str, absent: float) -> float:
    """A value of a schedule over its time; where it does not repeat, what holds at its end."""
    points = stage["points"]
    values = [absent if point.get(key) is None else float(point[key]) for point in points]
    if stage.get("repeat_ns") is None:
        return values[-1]
    instants = [*(point["at_ns"] for point in points), stage["repeat_ns"]]
    spans = [later - earlier for earlier, later in pairwise(instants)]
    return float(sum(span * value for span, value in zip(spans, values, strict=True)) / sum(spans))


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
