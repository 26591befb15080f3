"""Two samples: Hodges-Lehmann shift, Cliff's delta, and the permutation p of whole trials."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from wirelab.stats.estimate import large
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.sample import Floats, Sample

PERMUTATIONS = 9999


@dataclass(frozen=True)
class Pair:
    """Every value of `a` against every value of `b`; censored values are above all others and tie among themselves."""

    a: Sample
    b: Sample

    @cached_property
    def delta(self) -> float:
        """Cliff's delta: share of pairs with a above b, minus the share below."""
        return float(np.mean(_above(self.a.ordered, self.b.ordered)))

    @cached_property
    def delta_error(self) -> tuple[float, float]:
        """Standard error of delta over trials (Obuchowski 1997) and its Welch-Satterthwaite degrees of freedom."""
        parts = [_clustered(self.a, self.b.ordered), _clustered(self.b, self.a.ordered)]
        variance = sum(part for part, _ in parts)
        if variance <= 0:
            return 0.0, max(df for _, df in parts)
        return variance**0.5, variance**2 / sum(part**2 / df for part, df in parts)


def cliffs_delta(pair: Pair, level: float = LEVEL) -> Estimate:
    """Cliff's delta with a clustered interval (on Fisher's scale, so that it stays within -1 and 1)."""
    from scipy.special import stdtrit

    n = pair.a.n + pair.b.n
    error, df = pair.delta_error
    if abs(pair.delta) >= 1 or error == 0:
        reason = (
            "no overlap: every pair falls on one side" if abs(pair.delta) >= 1 else "no interval: constant over trials"
        )
        return Estimate(pair.delta, None, None, level, n, reason)
    reach = float(-stdtrit(df, (1 - level) / 2)) * error / (1 - pair.delta**2)
    centre = np.arctanh(pair.delta)
    low, high = float(np.tanh(centre - reach)), float(np.tanh(centre + reach))
    return Estimate(pair.delta, low, high, level, n, "clustered over trials, Fisher scale")


def hodges_lehmann(pair: Pair, level: float = LEVEL) -> Estimate:
    """Median of all differences a - b; its interval holds the shifts at which Cliff's delta is not far from 0."""
    from scipy.special import stdtrit

    n = pair.a.n + pair.b.n
    beyond = _beyond(pair)
    a, b = (np.minimum(large.thinned(side.ordered), beyond) for side in (pair.a, pair.b))
    total = len(a) * len(b)
    point = (difference(a, b, (total + 1) // 2) + difference(a, b, total // 2 + 1)) / 2
    if abs(point) > beyond / 4:
        return Estimate(None, None, None, level, n, "above the time-out: too many exchanges timed out")
    error, df = Pair(_moved(pair.a, point), pair.b).delta_error
    reach = float(-stdtrit(df, (1 - level) / 2)) * error / 2
    lower, upper = int(np.floor((0.5 - reach) * total)), int(np.ceil((0.5 + reach) * total)) + 1
    if lower < 1 or upper > total:
        return Estimate(point, None, None, level, n, "no interval: too few values or trials")
    low, high = difference(a, b, lower), difference(a, b, upper)
    if max(abs(low), abs(high)) > beyond / 4:
        return Estimate(point, None, None, level, n, "no interval: it reaches above the time-out")
    return Estimate(point, min(low, point), max(high, point), level, n, "Hodges-Lehmann, clustered over trials")


def permutation_p(pair: Pair, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> float:
    """Two-sided p of the difference of mean ranks when whole trials change sides.

    Exact when the two scenarios are the same: trials are exchangeable then, whatever happens within them. With few
    trials it cannot be small (3 a side: 0.1). If either side has one trial, exchanges change sides instead.
    """
    first, second = _mean_ranks(pair)
    if min(len(first), len(second)) < 2:
        first, second = _single_ranks(pair)
    ranks = np.concatenate([first, second])
    ranks -= ranks.mean()
    side = len(first)
    observed = float(ranks[:side].sum())
    if comb(len(ranks), side) <= permutations:
        chosen = np.array(list(combinations(range(len(ranks)), side)))
        return float(np.mean(np.abs(ranks[chosen].sum(axis=1)) >= abs(observed) - 1e-12))
    hits = 0
    block = max(1, 4_000_000 // len(ranks))
    for start in range(0, permutations, block):
        rows = min(block, permutations - start)
        chosen = np.argpartition(rng.random((rows, len(ranks))), side - 1, axis=1)[:, :side]
        hits += int((np.abs(ranks[chosen].sum(axis=1)) >= abs(observed) - 1e-12).sum())
    return (hits + 1) / (permutations + 1)


def difference(a: Floats, b: Floats, rank: int) -> float:
    """The difference a_i - b_j with this rank, from 1, of two ordered arrays; bisection, so no n x m matrix."""
    low, high = float(a[0] - b[-1]), float(a[-1] - b[0])
    resolution = 1e-13 * max(abs(low), abs(high))
    while high - low > resolution:
        middle = low + (high - low) / 2
        if _count(a, b, middle) >= rank:
            high = middle
        else:
            low = middle
    return _nearest(a, b, high)


def _nearest(a: Floats, b: Floats, target: float) -> float:
    """The difference that is nearest to the target."""
    place = np.searchsorted(b, a - target)
    below, above = b[np.maximum(place - 1, 0)], b[np.minimum(place, len(b) - 1)]
    candidates = np.concatenate([a - below, a - above])
    return float(candidates[np.argmin(np.abs(candidates - target))])


def _count(a: Floats, b: Floats, limit: float) -> int:
    """Pairs with a_i - b_j <= limit."""
    return int(np.sum(len(b) - np.searchsorted(b, a - limit, side="left")))


def _above(values: Floats, others: Floats) -> Floats:
    """For each value: share of the others below it, minus the share above. The others are in order."""
    # Of many others, looking them up in order is several times as fast.
    order = np.argsort(values)
    ordered = values[order]
    below = np.searchsorted(others, ordered, side="left")
    above = len(others) - np.searchsorted(others, ordered, side="right")
    result = np.empty(len(values))
    result[order] = (below - above) / len(others)
    return result


def _clustered(sample: Sample, others: Floats) -> tuple[float, float]:
    """Variance of the mean placement of a sample's trials among the others, and its degrees of freedom."""
    trials = sample.with_censored()
    placements = [_above(trial, others) for trial in trials]
    n = sum(len(trial) for trial in trials)
    centre = float(np.sum([part.sum() for part in placements])) / n
    if len(trials) == 1:
        return (float(np.var(placements[0], ddof=1)) / n if n > 1 else 0.0), float(max(n - 1, 1))
    sums = np.array([(part - centre).sum() for part in placements])
    return len(trials) / (len(trials) - 1) * float((sums**2).sum()) / n**2, float(len(trials) - 1)


def _mean_ranks(pair: Pair) -> tuple[Floats, Floats]:
    """Mean centred rank of each trial in the pooled values."""
    pooled = np.sort(np.concatenate([pair.a.ordered, pair.b.ordered]), kind="stable")
    first, second = (
        np.array([float(np.mean(_above(trial, pooled))) for trial in sample.with_censored()])
        for sample in (pair.a, pair.b)
    )
    return first, second


def _single_ranks(pair: Pair) -> tuple[Floats, Floats]:
    pooled = np.sort(np.concatenate([pair.a.ordered, pair.b.ordered]), kind="stable")
    return _above(pair.a.ordered, pooled), _above(pair.b.ordered, pooled)


def _beyond(pair: Pair) -> float:
    """A stand-in for infinity, so that two censored values differ by 0 and a censored one from another by a lot."""
    largest = max(
        (float(np.abs(sample.values).max()) for sample in (pair.a, pair.b) if len(sample.values)), default=1.0
    )
    return 1e6 * max(largest, 1.0)


def _moved(sample: Sample, shift: float) -> Sample:
    return Sample(tuple(trial - shift for trial in sample.trials), sample.censored)
