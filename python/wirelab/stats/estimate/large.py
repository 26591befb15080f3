"""Resamples of samples so large that they need not be made: their sums are normal, and their quantiles are read off
counts.

What a resampled trial of thousands of exchanges adds to a sum is normal by the central limit theorem, with the trial's
own mean and variance. A quantile of a resample lies in the bin of values where its trials' counts reach its rank;
within the bin, values are taken in the order of all values. Where quantiles of resamples lie, bins are so narrow that
this leaves far less open than the exchanges of a trial do.
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
FINE, COARSE = 65, 33
"""Borders of bins around a quantile of all values, and over all values."""
OF_TRIALS, LEAST_OF_TRIAL = 128, 3
"""Borders around quantiles of trials: of all trials together, and of each at least."""
APART = 512
"""Of borders of trials there is one in such a share of all values."""
REACH = 8.0
"""Standard errors of the share below a quantile, to each side of it, that narrow bins are for."""
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
    pooled = np.sort(np.concatenate(trials))
    lowest, starts = _bins(trials, pooled, q)
    counts = np.stack([np.bincount(_place(lowest, trial), minlength=len(lowest)) for trial in trials])
    again = [rng.multinomial(row.sum(), row / row.sum(), VARIANTS) for row in counts]
    # The trial as it is, and then its variants.
    every = np.concatenate([counts[:, None], np.stack(again)], axis=1).astype(np.int32)
    variant = np.where(within, rng.integers(1, VARIANTS + 1, chosen.shape), 0)
    found = np.empty(len(chosen))
    at_once = max(1, BLOCK // (len(trials) * len(lowest)))
    for first in range(0, len(chosen), at_once):
        rows = slice(first, first + at_once)
        found[rows] = _read(pooled, starts, every[chosen[rows], variant[rows]].sum(axis=1), q)
    return found


def _bins(trials: Sequence[Floats], pooled: Floats, q: float) -> tuple[Floats, NDArray[np.int64]]:
    """The lowest value of each bin, and where each begins and the last one ends in the pooled values.

    Narrow ones lie where quantiles of resamples do: around the quantile of all, by the spread over trials of the share
    that is below it, and around that of each trial, since a resample may lack the trials that are unlike it.
    """
    n = len(pooled)
    middle = pooled[int(q * (n - 1))]
    below = np.array([np.count_nonzero(trial <= middle) / len(trial) for trial in trials])
    reach = REACH * (float(below.std()) + (q * (1 - q) / n * len(trials)) ** 0.5) / len(trials) ** 0.5
    each = max(LEAST_OF_TRIAL, OF_TRIALS // len(trials))
    unlike = []
    for trial in trials:
        own = REACH * (q * (1 - q) / len(trial)) ** 0.5
        unlike.append(_at(np.sort(trial), np.append(np.linspace(q - own, q + own, each), 0)))
    borders = np.sort(np.concatenate(unlike))
    # Trials that are alike have theirs at the same places.
    _, apart = np.unique(np.searchsorted(pooled, borders) * APART // n, return_index=True)
    of_all = np.append(np.linspace(0, 1, COARSE), np.linspace(q - reach, q + reach, FINE))
    lowest = np.unique(np.concatenate([borders[apart], _at(pooled, of_all)]))
    return lowest, np.append(np.searchsorted(pooled, lowest), n)


def _at(ordered: Floats, shares: Floats) -> Floats:
    """The values at these shares of all, as far as they are between 0 and 1."""
    places = (np.clip(shares, 0, 1) * len(ordered)).astype(np.int64)
    found: Floats = ordered[np.minimum(places, len(ordered) - 1)]
    return found


def _place(lowest: Floats, values: Floats) -> NDArray[np.int64]:
    """The bin of each value."""
    found: NDArray[np.int64] = np.searchsorted(lowest, values, side="right") - 1
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
