"""Estimates of one sample: mean, standard deviation, median, quantiles.

A timed-out exchange is a value above every completed one: quantiles count it so, and a mean counts it at a stated
horizon (restricted mean). During a burst of loss a delay has no finite mean, so that what is left out decides it.
"""

from __future__ import annotations

import math

import numpy as np

from wirelab.statistic import least_values
from wirelab.stats.estimate import bootstrap, studentized
from wirelab.stats.estimate.horizon import LATE_S, counted_at
from wirelab.stats.estimate.model import LEVEL, Estimate, finite
from wirelab.stats.estimate.proportion import Share, enclosing, value_at
from wirelab.stats.estimate.sample import Sample

ABOVE = "the upper end is above the time-out"

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
    completed = sample.completed()
    n = sum(len(trial) for trial in completed)
    if n < 2:
        point = finite(float(completed[0][0])) if n else None
        none = "no interval: fewer than two values"
        mean = Estimate(point, None, None, level, n, none)
        sd = Estimate(None, None, None, level, n, none)
    else:
        means, sds = bootstrap.moments(completed, resamples, rng)
        if len(completed) >= studentized.LEAST_TRIALS:
            means = studentized.means(completed, resamples, rng, horizon_s)
        mean = means.estimate(level, mean_method(sample))
        sd = sds.estimate(level, f"descriptive: {_limited(bootstrap_name(sample), sample)}")
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
    mean = studentized.means(counted.trials, resamples, rng, horizon_s)
    return mean.estimate(level, f"{mean_method(counted)}; {counted_at(horizon_s)}")


def time_outs_in_mean(sample: Sample, horizon_s: float) -> float:
    """The share of the restricted mean that time-outs make."""
    total = sum(float(trial.sum()) for trial in sample.restricted(horizon_s))
    return sum(sample.censored) * horizon_s / total if total > 0 else 0.0


def late_share(sample: Sample, horizon_s: float, level: float = LEVEL) -> Estimate | None:
    """P(delay > 1 s) over completed and timed-out exchanges; None if time-outs came earlier, or without values."""
    if not sample.n or (horizon_s < LATE_S and any(sample.censored)):
        return None
    return Share.beyond(sample, LATE_S).estimate(level)


def mean_method(sample: Sample) -> str:
    """How the mean got its interval, with what restricts it."""
    return _limited(mean_name(sample), sample)


def mean_name(sample: Sample) -> str:
    """What is resampled for a mean, and whether its interval is descriptive: it covers too rarely where a trial has a
    single value, and that may be long.
    """
    trials = sample.completed()
    if len(trials) < studentized.LEAST_TRIALS:
        return bootstrap_name(sample)
    single = max(map(len, trials)) == 1
    return f"descriptive, of one value a trial: {studentized.METHOD}" if single else studentized.METHOD


def bootstrap_name(sample: Sample) -> str:
    """What is resampled."""
    return "hierarchical bootstrap" if len(sample.completed()) > 1 else "bootstrap of exchanges within one trial"


def _limited(name: str, sample: Sample) -> str:
    return f"{name}; completed exchanges only" if sum(sample.censored) or sample.unknown else name


def quantile(sample: Sample, q: float, level: float = LEVEL, *, cautious: bool = False) -> Estimate | None:
    """Quantile with an interval between order statistics; None if there are too few values to name it at all. A
    `cautious` interval counts no more independent values than there are.
    """
    n = sample.n
    if n < least_values(q):
        return None
    ordered = sample.ordered
    point = value_at(ordered, q * (n - 1) + 1)
    places = enclosing(*sample.up_to(point), q, level, cautious=cautious)
    method = "order statistics" if len(sample.completed()) != 1 else "order statistics within one trial"
    if not math.isfinite(point):
        low = finite(value_at(ordered, places[0])) if places else None
        return Estimate(None, low, None, level, n, "above the time-out: too many exchanges timed out")
    if places is None:
        return Estimate(point, None, None, level, n, "no interval: too few values or trials")
    low, high = min(value_at(ordered, places[0]), point), max(value_at(ordered, places[1]), point)
    if not math.isfinite(high):
        return Estimate(point, low, None, level, n, f"{method}; {ABOVE}")
    return Estimate(point, low, high, level, n, method)


def median(sample: Sample, level: float = LEVEL) -> Estimate:
    """The median, censored values counted as above the time-out."""
    return quantile(sample, 0.5, level) or Estimate(None, None, None, level, 0, "no values")
