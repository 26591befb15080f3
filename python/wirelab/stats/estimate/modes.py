"""Modes of a positive quantity, such as the steps that retransmission time-outs make in a delay.

Rule: a kernel density of the logarithm (Gaussian, standard deviation 0.06, so modes 20 % apart are separate) is cut
at a valley if the density there is below half of the lower of the two peaks next to it; a piece with less than 1 % of
the values joins its nearer neighbour.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from wirelab.schema.estimates import ModeRecord
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.proportion import share
from wirelab.stats.estimate.sample import Floats, Sample

BANDWIDTH = 0.06
VALLEY = 0.5
LEAST_SHARE = 0.01
_STEP = BANDWIDTH / 4


@dataclass(frozen=True, slots=True)
class Mode:
    """Values from `low` up to `high`, both seen, and their share of the completed values."""

    low: float
    high: float
    share: Estimate

    def record(self) -> ModeRecord:
        """As `estimates.json` has it."""
        return {"low": self.low, "high": self.high, "share": self.share.record()}


def modes(sample: Sample, level: float = LEVEL) -> list[Mode]:
    """The modes from the lowest up; empty if there is only one, or if a value is not positive."""
    values = np.sort(sample.values)
    if len(values) < 2 or values[0] <= 0:
        return []
    edges = _merge_small(values, [float(np.exp(cut)) for cut in _valleys(np.log(values))])
    if not edges:
        return []
    bounds = [-np.inf, *edges, np.inf]
    trials = sample.completed()
    found = []
    for low, high in itertools.pairwise(bounds):
        inside = values[(values > low) & (values <= high)]
        hits = [float(((trial > low) & (trial <= high)).sum()) for trial in trials]
        found.append(Mode(float(inside[0]), float(inside[-1]), share(hits, [len(trial) for trial in trials], level)))
    return found


def _valleys(logs: Floats) -> list[float]:
    """Positions of the valleys that count, on the logarithmic axis."""
    start = float(logs[0]) - 4 * BANDWIDTH
    bins = int((float(logs[-1]) + 4 * BANDWIDTH - start) / _STEP) + 2
    histogram = np.bincount(((logs - start) / _STEP).astype(int), minlength=bins).astype(np.float64)
    reach = np.arange(-16, 17) * _STEP
    density = np.convolve(histogram, np.exp(-0.5 * (reach / BANDWIDTH) ** 2), mode="same")
    cuts: list[float] = []
    peak, valley, place = 0.0, np.inf, 0
    for index, height in enumerate(density):
        if height < valley:
            valley, place = height, index
        if height > peak and valley >= VALLEY * peak:
            peak, valley = height, np.inf
        elif valley < VALLEY * min(peak, height):
            cuts.append(start + (_flat_middle(density, place) + 0.5) * _STEP)
            peak, valley = height, np.inf
    return cuts


def _flat_middle(density: Floats, place: int) -> int:
    """The middle of the empty stretch that begins at `place`, so that a cut does not sit at its edge."""
    end = place
    while end + 1 < len(density) and density[end + 1] <= density[place]:
        end += 1
    return (place + end) // 2


def _merge_small(values: Floats, edges: list[float]) -> list[float]:
    """Drops, while a piece holds less than the least share, the edge towards its nearer neighbour."""
    edges = list(edges)
    while edges:
        counts = np.diff([0, *np.searchsorted(values, edges, side="right"), len(values)])
        smallest = int(np.argmin(counts))
        if counts[smallest] >= LEAST_SHARE * len(values):
            break
        starts = np.concatenate([[0], np.cumsum(counts)])
        first, last = int(starts[smallest]), int(starts[smallest + 1]) - 1
        below = values[first] / values[first - 1] if smallest > 0 else np.inf
        above = values[last + 1] / values[last] if smallest < len(edges) else np.inf
        del edges[smallest - 1 if below <= above else smallest]
    return edges
