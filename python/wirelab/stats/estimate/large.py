"""Resamples of samples so large that they need not be made: their sums are normal, and their quantiles are read off
counts.

What a resampled trial of thousands of exchanges adds to a sum is normal by the central limit theorem, with the trial's
own mean and variance. A quantile of a resample lies in the bin of pooled ranks where its trials' counts reach its rank;
within the bin, values are taken in the order of all values. A bin holds one exchange of `BINS`, so that this leaves far
less open than the exchanges of a trial do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wirelab.stats.estimate.sample import Floats

MANY = 100_000
"""Exchanges of all trials from which on a sample is large."""
LEAST = 1_000
"""Exchanges of each of its trials."""
BINS = 1024
VARIANTS = 64
"""Resamples of each trial's exchanges."""
POINTS = 8192
"""Of a sample that is thinned."""
BLOCK = 20_000_000
"""Counts that are held at a time."""


def is_large(trials: Sequence[Floats]) -> bool:
    """Whether resamples of these trials need not be made."""
    sizes = [len(trial) for trial in trials]
    return sum(sizes) >= MANY and min(sizes) >= LEAST


def resampled_sums(trial: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Sums and sums of squares of so many resamples of a trial."""
    powers = np.stack([trial, trial**2])
    covariance = np.cov(powers, bias=True) * len(trial)
    found: Floats = rng.multivariate_normal(powers.sum(axis=1), covariance, count, method="svd")
    # Of squares that add up to nearly nothing.
    found[:, 1] = np.maximum(found[:, 1], 0.0)
    return found


def thinned(ordered: Floats) -> Floats:
    """Values in order, or of many as many evenly spaced ones as say the same."""
    if len(ordered) < MANY:
        return ordered
    places = ((np.arange(POINTS) + 0.5) * len(ordered) / POINTS).astype(np.int64)
    found: Floats = ordered[places]
    return found


def quantiles(
    trials: Sequence[Floats], q: float, chosen: NDArray[np.int64], within: NDArray[np.bool_], rng: np.random.Generator
) -> Floats:
    """A quantile of each resample: `chosen` are its trials, and `within` says of which the exchanges are resampled too,
    each by one of `VARIANTS` resamples of it.
    """
    sizes = np.array([len(trial) for trial in trials])
    whose = np.repeat(np.arange(len(trials)), sizes)
    pooled = np.concatenate(trials)
    order = np.argsort(pooled, kind="stable")
    pooled, whose = pooled[order], whose[order]
    starts = np.linspace(0, len(pooled), BINS + 1).astype(np.int64)
    bins = np.repeat(np.arange(BINS), np.diff(starts))
    counts = np.bincount(whose * BINS + bins, minlength=len(trials) * BINS).reshape(len(trials), BINS)
    again = np.stack([
        rng.multinomial(size, row / size, VARIANTS).astype(np.int32) for size, row in zip(sizes, counts, strict=True)
    ])  # fmt: skip
    variant = rng.integers(0, VARIANTS, chosen.shape)
    found = np.empty(len(chosen))
    at_once = max(1, BLOCK // (len(trials) * BINS))
    for first in range(0, len(chosen), at_once):
        rows = slice(first, first + at_once)
        picked = np.where(within[rows, :, None], again[chosen[rows], variant[rows]], counts[chosen[rows]])
        found[rows] = _read(pooled, starts, picked.sum(axis=1), q)
    return found


def _read(pooled: Floats, starts: NDArray[np.int64], counts: NDArray[np.int64], q: float) -> Floats:
    """The quantile of each row of counts by bin."""
    upto = counts.cumsum(axis=1)
    position = q * (upto[:, -1] - 1)
    place = (upto <= position[:, None]).sum(axis=1)
    rows = np.arange(len(counts))
    before = upto[rows, place] - counts[rows, place]
    share = (position - before) / counts[rows, place]
    width = starts[place + 1] - starts[place]
    found: Floats = pooled[np.minimum(starts[place] + (share * width).astype(np.int64), starts[place + 1] - 1)]
    return found
