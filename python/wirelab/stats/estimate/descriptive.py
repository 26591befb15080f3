"""Estimates of one sample: mean, standard deviation, median, quantiles.

A timed-out exchange is a value above every completed one: quantiles count it so, and a mean counts it at a stated
horizon (restricted mean). During a burst of loss a delay has no finite mean, so that what is left out decides it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from wirelab.statistic import least_values
from wirelab.stats.estimate import bootstrap
from wirelab.stats.estimate.horizon import LATE_S, counted_at
from wirelab.stats.estimate.model import LEVEL, Estimate, finite
from wirelab.stats.estimate.proportion import ranks, share
from wirelab.stats.estimate.sample import Sample

QUANTILES = (0.05, 0.25, 0.75, 0.95, 0.99)


def mean_and_sd(
    sample: Sample,
    rng: np.random.Generator,
    level: float = LEVEL,
    resamples: int = bootstrap.RESAMPLES,
    horizon_s: float | None = None,
) -> tuple[Estimate, Estimate]:
    """The mean, with time-outs counted at the horizon if there is one, and the standard deviation of the completed
    values.
    """
    mean, sd = _moments(sample, rng, level, resamples)
    if horizon_s is not None and any(sample.censored):
        mean = restricted_mean(sample, horizon_s, rng, level, resamples)
    return mean, sd


def restricted_mean(
    sample: Sample,
    horizon_s: float,
    rng: np.random.Generator,
    level: float = LEVEL,
    resamples: int = bootstrap.RESAMPLES,
) -> Estimate:
    """The mean of delays cut at the horizon, with every time-out counted at it; None if fewer than two completed."""
    if sum(map(len, sample.completed())) < 2:
        return Estimate(None, None, None, level, sample.n, "no mean: fewer than two exchanges completed")
    counted = Sample(sample.restricted(horizon_s), (0,) * len(sample.restricted(horizon_s)))
    mean, _ = _moments(counted, rng, level, resamples)
    return replace(mean, method=f"{mean.method}; {counted_at(horizon_s)}")


def time_outs_in_mean(sample: Sample, horizon_s: float) -> float:
    """The share of the restricted mean that time-outs make."""
    total = sum(float(trial.sum()) for trial in sample.restricted(horizon_s))
    return sum(sample.censored) * horizon_s / total if total > 0 else 0.0


def late_share(sample: Sample, horizon_s: float, level: float = LEVEL) -> Estimate | None:
    """P(delay > 1 s) over completed and timed-out exchanges; None if time-outs came earlier, or without values."""
    if not sample.n or (horizon_s < LATE_S and any(sample.censored)):
        return None
    late = [float((trial > LATE_S).sum()) + count for trial, count in zip(sample.trials, sample.censored, strict=True)]
    sizes = [float(len(trial) + count) for trial, count in zip(sample.trials, sample.censored, strict=True)]
    return share(late, sizes, level)


def _moments(sample: Sample, rng: np.random.Generator, level: float, resamples: int) -> tuple[Estimate, Estimate]:
    trials = sample.completed()
    n = sum(len(trial) for trial in trials)
    if n < 2:
        point = finite(float(trials[0][0])) if n else None
        none = "no interval: fewer than two values"
        return Estimate(point, None, None, level, n, none), Estimate(None, None, None, level, n, none)
    means, sds = bootstrap.moments(trials, resamples, rng)
    method = method_name(sample)
    return means.estimate(level, method), sds.estimate(level, f"descriptive: {method}")


def method_name(sample: Sample) -> str:
    """The bootstrap's name with what restricts it."""
    name = bootstrap_name(sample)
    return f"{name}; completed exchanges only" if sum(sample.censored) or sample.unknown else name


def bootstrap_name(sample: Sample) -> str:
    """What is resampled."""
    return "hierarchical bootstrap" if len(sample.completed()) > 1 else "bootstrap of exchanges within one trial"


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
