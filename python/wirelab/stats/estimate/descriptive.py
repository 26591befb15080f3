"""Estimates of one sample: mean, standard deviation, median, quantiles.

A timed-out exchange is a value above every completed one: quantiles count it so, means cannot and are over completed
exchanges alone.
"""

from __future__ import annotations

import math

import numpy as np

from wirelab.stats.estimate import bootstrap
from wirelab.stats.estimate.model import LEVEL, Estimate, finite
from wirelab.stats.estimate.proportion import ranks
from wirelab.stats.estimate.sample import Sample

QUANTILES = (0.05, 0.25, 0.75, 0.95, 0.99)


def least_values(q: float) -> int:
    """The number of values that a quantile needs: five in its tail, and ten for the outermost (100 for p95,
    1,000 for p99).
    """
    tail = min(q, 1 - q)
    if tail < 0.05:
        return 1000
    return 100 if tail < 0.25 else 1


def mean_and_sd(
    sample: Sample, rng: np.random.Generator, level: float = LEVEL, resamples: int = bootstrap.RESAMPLES
) -> tuple[Estimate, Estimate]:
    """Mean and standard deviation of the completed values."""
    trials = sample.completed()
    n = sum(len(trial) for trial in trials)
    if n < 2:
        point = finite(float(trials[0][0])) if n else None
        none = "no interval: fewer than two values"
        return Estimate(point, None, None, level, n, none), Estimate(None, None, None, level, n, none)
    means, sds = bootstrap.moments(trials, resamples, rng)
    method = method_name(sample)
    return means.estimate(level, method), sds.estimate(level, method)


def method_name(sample: Sample) -> str:
    """The bootstrap's name with what restricts it."""
    name = "hierarchical bootstrap" if len(sample.completed()) > 1 else "bootstrap of exchanges within one trial"
    return f"{name}; completed exchanges only" if sum(sample.censored) else name


def quantile(sample: Sample, q: float, level: float = LEVEL) -> Estimate | None:
    """Quantile with an interval between order statistics; None if there are too few values to name it at all."""
    n = sample.n
    if n < least_values(q):
        return None
    ordered = sample.ordered
    point = _order_statistic_mean(sample, q)
    enclosing = ranks(ordered <= point, sample.labels, q, level)
    method = "order statistics" if len(sample.completed()) != 1 else "order statistics within one trial"
    if not math.isfinite(point):
        low = finite(ordered[enclosing[0] - 1]) if enclosing else None
        return Estimate(None, low, None, level, n, "above the time-out: too many exchanges timed out")
    if enclosing is None:
        return Estimate(point, None, None, level, n, "no interval: too few values or trials")
    low, high = ordered[enclosing[0] - 1], ordered[enclosing[1] - 1]
    if not math.isfinite(high):
        return Estimate(point, min(float(low), point), None, level, n, f"{method}; the upper end is above the time-out")
    return Estimate(point, min(float(low), point), max(float(high), point), level, n, method)


def median(sample: Sample, level: float = LEVEL) -> Estimate:
    """The median, censored values counted as above the time-out."""
    return quantile(sample, 0.5, level) or Estimate(None, None, None, level, 0, "no values")


def _order_statistic_mean(sample: Sample, q: float) -> float:
    """Quantile by linear interpolation, infinite as soon as a neighbour is."""
    ordered = sample.ordered
    position = q * (len(ordered) - 1)
    lower = int(np.floor(position))
    weight = position - lower
    if weight < 1e-12:
        return float(ordered[lower])
    return float(ordered[lower] * (1 - weight) + ordered[lower + 1] * weight)
