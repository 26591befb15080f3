"""A ratio of sums over trials, each with a numerator and a denominator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wirelab.stats.estimate.bootstrap import RESAMPLES
from wirelab.stats.estimate.model import LEVEL, Estimate

LEAST_TRIALS = 5
"""Fewer say too little of how trials differ for a percentile interval."""


def pooled_ratio(pairs: Sequence[tuple[float, float]], seed: int) -> Estimate:
    """Sum of the first over sum of the second, with the percentile interval of resampled trials; none of fewer than
    five.
    """
    above, below = np.array(pairs, dtype=np.float64).T
    point = float(above.sum() / below.sum())
    if len(pairs) < LEAST_TRIALS:
        return Estimate(point, None, None, LEVEL, len(pairs), f"no interval: fewer than {LEAST_TRIALS} trials")
    drawn = np.random.default_rng(seed).integers(0, len(pairs), (RESAMPLES, len(pairs)))
    ratios = above[drawn].sum(axis=1) / below[drawn].sum(axis=1)
    low, high = np.quantile(ratios, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(point, float(low), float(high), LEVEL, len(pairs), "bootstrap over trials")
