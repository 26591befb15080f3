"""Estimates of what probes measured, for checks that get the level when the family's size is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray

from wirelab.stats.estimate.model import Estimate
from wirelab.stats.estimate.proportion import clopper_pearson
from wirelab.stats.link.grade import LATENESS_FLOOR_S

Floats = NDArray[np.float64]

LEAST_DELAYS = 5
BATCHES = 20


def share(hits: int, n: int, worth: float | None = None) -> Callable[[float], Estimate]:
    """Clopper-Pearson, on the number of independent packets that they are worth."""

    def measure(level: float) -> Estimate:
        if n == 0:
            return Estimate(None, None, None, level, 0, "no packets")
        size = n if worth is None else worth
        low, high = clopper_pearson(hits / n * size, size, level)
        method = "Clopper-Pearson" if worth is None else "Clopper-Pearson on the model's effective size"
        return Estimate(hits / n, min(low, hits / n), max(high, hits / n), level, n, method)

    return measure


def quantile(values: Floats, q: float) -> Callable[[float], Estimate]:
    """A quantile between order statistics: exact for any distribution."""

    def measure(level: float) -> Estimate:
        from scipy.stats import binom

        n = len(values)
        if n == 0:
            return Estimate(None, None, None, level, 0, "no probe arrived")
        ordered = np.sort(values)
        point = float(ordered[max(int(np.ceil(q * n)) - 1, 0)])
        tail = (1 - level) / 2
        lower, upper = int(binom.ppf(tail, n, q)), int(binom.ppf(1 - tail, n, q)) + 1
        low = float(ordered[lower - 1]) if lower >= 1 and binom.cdf(lower - 1, n, q) <= tail else None
        high = float(ordered[upper - 1]) if upper <= n else None
        if low is None or high is None:
            # Where too few values enclose it, all of them do not either; what is constant needs none.
            if n >= LEAST_DELAYS and ordered[-1] - ordered[0] <= LATENESS_FLOOR_S:
                return Estimate(point, float(ordered[0]), float(ordered[-1]), level, n, "range")
            return Estimate(point, low, high, level, n, f"n = {n} is too few for an interval")
        return Estimate(point, low, high, level, n, "order statistics")

    return measure


def median(values: Floats) -> Callable[[float], Estimate]:
    """The same for the median."""
    return quantile(values, 0.5)


def batches(values: NDArray[np.float64 | np.int64 | np.bool_]) -> Callable[[float], Estimate]:
    """Mean with Student's interval over batch means: what follows one another may be correlated."""

    def measure(level: float) -> Estimate:
        from scipy.special import stdtrit

        n = len(values)
        if n == 0:
            return Estimate(None, None, None, level, 0, "no probe arrived")
        point = float(np.mean(values))
        if n < 2 * BATCHES:
            return Estimate(point, None, None, level, n, f"n = {n} is too few for an interval")
        means = np.array([batch.mean() for batch in np.array_split(values.astype(np.float64), BATCHES)])
        half = float(-stdtrit(BATCHES - 1, (1 - level) / 2) * means.std(ddof=1) / np.sqrt(BATCHES))
        return Estimate(point, point - half, point + half, level, n, f"Student over {BATCHES} batches")

    return measure


def ratio(part: SupportsFloat, whole: int) -> float | None:
    """None of nothing."""
    return float(part) / whole if whole else None
