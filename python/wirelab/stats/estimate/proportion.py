"""Intervals for shares and for quantiles, when values come in trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wirelab.stats.estimate.bootstrap import UNKNOWN
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.estimate.sample import Floats, Sample

LEAST_TRIALS = 5


def clopper_pearson(successes: float, n: float, level: float) -> tuple[float, float]:
    """Exact binomial interval; neither count needs to be whole (an effective size)."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if successes <= 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes >= n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def effective_size(
    successes: Sequence[float], sizes: Sequence[float], level: float, *, at_most_n: bool = True
) -> float:
    """The effective number of independent values (Korn and Graubard 1998).

    n over the design effect, times the squared ratio of Student quantiles with n - 1 and (trials - 1) degrees of
    freedom; not above n, as they recommend, unless the caller says so. One trial says nothing about the spread between
    trials: n.
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
    if effect <= 0:
        return n
    return min(n, n / effect * shrink) if at_most_n else n / effect * shrink


def share(successes: Sequence[float], sizes: Sequence[float], level: float) -> Estimate:
    """Share of successes over trials, with the Korn-Graubard interval."""
    n = float(np.sum(sizes))
    if n == 0:
        return Estimate(None, None, None, level, 0, "no values")
    point = float(np.sum(successes)) / n
    return Estimate(point, *_limits(successes, sizes, level), level, int(n), "Korn-Graubard over trials")


def _limits(successes: Sequence[float], sizes: Sequence[float], level: float) -> tuple[float, float]:
    """Korn-Graubard."""
    point = float(np.sum(successes)) / float(np.sum(sizes))
    worth = effective_size(successes, sizes, level)
    low, high = clopper_pearson(point * worth, worth, level)
    return min(low, point), max(high, point)


@dataclass(frozen=True)
class Share:
    """A share of successes over trials, with its interval at any level. `tells` is that of `bootstrap.Draws`."""

    successes: tuple[int, ...]
    sizes: tuple[int, ...]
    tells: tuple[bool, bool] = (True, True)

    @classmethod
    def beyond(cls, sample: Sample, bound: float) -> Share:
        """Of the values above the bound. Censored ones are: the bound must not lie above a time-out."""
        each = list(zip(sample.trials, sample.censored, strict=True))
        return cls(
            tuple(int((trial > bound).sum()) + count for trial, count in each),
            tuple(len(trial) + count for trial, count in each),
        )

    @property
    def n(self) -> int:
        return sum(self.sizes)

    @property
    def point(self) -> float:
        return sum(self.successes) / self.n

    def interval(self, level: float) -> tuple[float, float]:
        return _limits(self.successes, self.sizes, level)

    def estimate(self, level: float) -> Estimate:
        if not all(self.tells):
            return Estimate(self.point, None, None, level, self.n, f"no interval: {UNKNOWN}")
        return share(self.successes, self.sizes, level)


def difference_limits(share: tuple[float, float, float], less: tuple[float, float, float]) -> tuple[float, float]:
    """By how much one share is above an independent one (MOVER), from the point and the limits of each."""
    (point, low, high), (other, other_low, other_high) = share, less
    above = point - other
    return above - math.hypot(point - low, other_high - other), above + math.hypot(high - point, other - other_low)


@dataclass(frozen=True)
class ShareDifference:
    """How much larger one share is than an independent one.

    Its interval recovers the variance at each limit from the limits of both (MOVER: Newcombe 1998, method 10; Zou and
    Donner 2008), so that it is not empty where a share is 0 or 1.
    """

    share: Share
    less: Share

    @property
    def n(self) -> int:
        return self.share.n + self.less.n

    @property
    def point(self) -> float:
        return self.share.point - self.less.point

    @property
    def tells(self) -> tuple[bool, bool]:
        tells = all(self.share.tells) and all(self.less.tells)
        return tells, tells

    def interval(self, level: float) -> tuple[float, float]:
        share, less = ((each.point, *each.interval(level)) for each in (self.share, self.less))
        return difference_limits(share, less)

    def estimate(self, level: float) -> Estimate:
        if not all(self.tells):
            return Estimate(self.point, None, None, level, self.n, f"no interval: {UNKNOWN}")
        return Estimate(self.point, *self.interval(level), level, self.n, "MOVER of Korn-Graubard intervals")


def enclosing(
    below: Sequence[int], sizes: Sequence[int], q: float, level: float, *, cautious: bool = False
) -> tuple[float, float] | None:
    """The positions in order, from 1, between which quantile `q` lies; None if too few values do. `below` counts the
    values of each trial that are not above the quantile.

    Woodruff's interval (1952): the limits of the share below the quantile are taken to the values in order, the k-th of
    n being that of the share (k - 1/2) / n (Hazen 1914). The share's limits are Clopper and Pearson's on its effective
    size. That may be above n, unless `cautious`: to keep it below in samples that vary less than independent values by
    chance alone makes intervals of 10 trials cover 97.5 %. Of fewer than five trials it never is, since their counts
    are often equal by chance.
    """
    n = sum(sizes)
    cautious = cautious or sum(size > 0 for size in sizes) < LEAST_TRIALS
    worth = effective_size(below, sizes, level, at_most_n=cautious)
    low, high = clopper_pearson(q * worth, worth, level)
    first, last = low * n + 0.5, high * n + 0.5
    return (first, last) if first >= 1 and last <= n else None


def value_at(ordered: Floats, position: float) -> float:
    """The value at a position from 1, between two by interpolation, infinite as soon as a neighbour is."""
    lower = int(np.floor(position + 1e-9))
    weight = position - lower
    if weight < 1e-9:
        return float(ordered[lower - 1])
    return float(ordered[lower - 1] * (1 - weight) + ordered[lower] * weight)
