"""Intervals for shares and for quantiles, when values come in trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wirelab.stats.estimate.model import Estimate


def clopper_pearson(successes: float, n: float, level: float) -> tuple[float, float]:
    """Exact binomial interval; neither count needs to be whole (an effective size)."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if successes <= 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes >= n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def effective_size(successes: Sequence[float], sizes: Sequence[float], level: float) -> float:
    """The effective number of independent values (Korn and Graubard 1998).

    n over the design effect, times the squared ratio of Student quantiles with n - 1 and (trials - 1) degrees of
    freedom; never above n. One trial says nothing about the spread between trials: n.
    """
    from scipy.special import stdtrit

    hits, counts = np.asarray(successes, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    hits, counts = hits[counts > 0], counts[counts > 0]
    n, trials = float(counts.sum()), len(counts)
    if trials < 2 or n < 3:
        return n
    share = float(hits.sum()) / n
    binomial = share * (1 - share) / n
    between = trials / (trials - 1) * float(((hits - share * counts) ** 2).sum()) / n**2
    effect = between / binomial if binomial > 0 else 1.0
    tail = (1 - level) / 2
    shrink = float(stdtrit(n - 1, tail) / stdtrit(trials - 1, tail)) ** 2
    return min(n, n / effect * shrink) if effect > 0 else n


def share(successes: Sequence[float], sizes: Sequence[float], level: float) -> Estimate:
    """Share of successes over trials, with the Korn-Graubard interval."""
    n = float(np.sum(sizes))
    if n == 0:
        return Estimate(None, None, None, level, 0, "no values")
    point = float(np.sum(successes)) / n
    worth = effective_size(successes, sizes, level)
    low, high = clopper_pearson(point * worth, worth, level)
    return Estimate(point, min(low, point), max(high, point), level, int(n), "Korn-Graubard over trials")


def ranks(below: NDArray[np.bool_], labels: NDArray[np.int64], q: float, level: float) -> tuple[int, int] | None:
    """Ranks, from 1, of the order statistics that enclose quantile `q`; None if too few values do.

    Binomial ranks on the effective size of `below` (which values lie at or below the quantile, by trial), stretched to
    all values.
    """
    from scipy.special import bdtr

    n = len(below)
    trials = int(labels.max()) + 1 if n else 0
    hits = np.bincount(labels, weights=below, minlength=trials)
    sizes = np.bincount(labels, minlength=trials).astype(np.float64)
    worth = int(effective_size(hits.tolist(), sizes.tolist(), level))
    if worth < 1:
        return None
    tail = (1 - level) / 2
    cumulative = bdtr(np.arange(worth + 1, dtype=np.float64), worth, q)
    lower = int(np.searchsorted(cumulative, tail))
    upper = int(np.searchsorted(cumulative, 1 - tail)) + 1
    if lower < 1 or upper > worth:
        return None
    return max(1, int(np.floor(lower / worth * n))), min(n, int(np.ceil(upper / worth * n)))
