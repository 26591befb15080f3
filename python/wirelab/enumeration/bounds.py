"""Probabilities over a tree, with bounds. What was not run counts once as if it were short, and once as if long."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wirelab.enumeration.loss import Loss
from wirelab.enumeration.tree import Branch, Run, Tree
from wirelab.errors import RunError

TOLERANCE = 1e-12
"""How far the weights of runs and branches may be from 1 together."""


@dataclass(frozen=True)
class Bounds:
    """A probability lies between them."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How far they are apart."""
        return self.high - self.low


@dataclass(frozen=True)
class Weighed:
    """A tree under one loss model: the weight of each run and of each branch that was not followed."""

    tree: Tree
    runs: Sequence[tuple[float, float]]
    """Delay in seconds (infinite without an end) and weight, by delay."""
    branches: Sequence[tuple[float, float]]
    """When its last packet got to the loss stage, in seconds, and weight."""

    @classmethod
    def of(cls, tree: Tree, loss: Loss) -> Weighed:
        """Raises `RunError` if the weights do not sum to 1: then a run or a branch is missing or counted twice."""
        runs = sorted(
            (math.inf if run.end_s is None else run.end_s, loss.weight(run.draws)) for run in tree.runs.values()
        )
        branches = [(branch.draws[-1].at_s, loss.weight(branch.draws)) for branch in tree.branches()]
        total = math.fsum(weight for _, weight in [*runs, *branches])
        if abs(total - 1) > TOLERANCE:
            raise RunError(f"the weights of all patterns sum to {total!r} and not to 1")
        return cls(tree, runs, branches)

    def beyond(self, x_s: float) -> Bounds:
        """P(delay > x)."""
        if x_s > self.tree.horizon_s:
            raise ValueError(f"{x_s} s is beyond the horizon of {self.tree.horizon_s} s")
        low = math.fsum(weight for delay, weight in self.runs if delay > x_s)
        low += math.fsum(weight for at_s, weight in self.branches if at_s > x_s)
        return Bounds(low, low + math.fsum(weight for at_s, weight in self.branches if at_s <= x_s))

    def quantile(self, share: float) -> tuple[float | None, float | None]:
        """The smallest delay that this share does not exceed, from below and from above, in seconds. None is beyond the
        horizon.
        """
        known = [delay for delay, _ in self.runs if delay <= self.tree.horizon_s]

        def first(bound: Callable[[Bounds], float]) -> float | None:
            # Neither bound of P(delay > x) grows with x.
            at = bisect_left(known, True, key=lambda x: bound(self.beyond(x)) <= 1 - share)
            return known[at] if at < len(known) else None

        return first(lambda bounds: bounds.low), first(lambda bounds: bounds.high)

    def mean(self) -> Bounds:
        """The mean of min(delay, horizon), in seconds."""
        horizon = self.tree.horizon_s
        runs = math.fsum(min(delay, horizon) * weight for delay, weight in self.runs)
        least = math.fsum(at_s * weight for at_s, weight in self.branches)
        return Bounds(runs + least, runs + math.fsum(horizon * weight for _, weight in self.branches))


class ByRate:
    """A probability or a mean by the rate of independent loss in both directions: a polynomial, whose terms depend on
    how many packets of a run were lost and how many not.
    """

    def __init__(self, tree: Tree, least_and_most: Callable[[Run | Branch], tuple[float, float]]) -> None:
        """`least_and_most` are the values that a run or an open branch has if what was not run is short, and if it is
        long.
        """
        self._least: defaultdict[tuple[int, int], float] = defaultdict(float)
        self._left: defaultdict[tuple[int, int], float] = defaultdict(float)
        every: list[Run | Branch] = [*tree.runs.values(), *tree.branches()]
        for each in every:
            least, most = least_and_most(each)
            self._least[len(each.pattern), len(each.draws)] += least
            self._left[len(each.pattern), len(each.draws)] += most - least

    @classmethod
    def beyond(cls, tree: Tree, x_s: float) -> ByRate:
        """P(delay > x)."""

        def ends(each: Run | Branch) -> tuple[float, float]:
            long = bool(each.exceeds(x_s))
            return float(long), float(long or isinstance(each, Branch))

        return cls(tree, ends)

    @classmethod
    def mean(cls, tree: Tree) -> ByRate:
        """The mean of min(delay, horizon), in seconds."""

        def ends(each: Run | Branch) -> tuple[float, float]:
            if isinstance(each, Branch):
                return each.draws[-1].at_s, tree.horizon_s
            delay_s = tree.horizon_s if each.end_s is None else min(each.end_s, tree.horizon_s)
            return delay_s, delay_s

        return cls(tree, ends)

    def at(self, rate: float) -> Bounds:
        """With this loss rate."""
        low, left = (
            math.fsum(value * rate**lost * (1 - rate) ** (all_ - lost) for (lost, all_), value in terms.items())
            for terms in (self._least, self._left)
        )
        return Bounds(low, low + left)


def worst_s(tree: Tree, losses: int) -> float | None:
    """The longest delay with so many losses at most, in seconds; None if an exchange has no end. Raises `ValueError`
    unless all of them were run.
    """
    if not tree.whole_to(losses):
        raise ValueError(f"not every pattern of {losses} losses was run")
    ends = [run.end_s for run in tree.runs.values() if len(run.pattern) <= losses]
    return None if any(end is None for end in ends) else max(end for end in ends if end is not None)


def crossovers(
    difference: Callable[[float], Bounds], rates: Sequence[float], *, within: float = 1e-6
) -> list[tuple[float, float]]:
    """Intervals of the loss rate that contain each change of the sign of a difference. Between two
    neighbours of `rates` one change at most is found.
    """
    found: list[tuple[float, float]] = []
    known = [(rate, _sign(difference(rate))) for rate in rates]
    last: tuple[float, int] | None = None
    for rate, sign in known:
        if sign == 0:
            continue
        if last is not None and last[1] != sign:
            low = _edge(difference, last[0], rate, last[1], within)
            high = _edge(difference, rate, last[0], sign, within)
            found.append((low, high))
        last = rate, sign
    return found


def _sign(bounds: Bounds) -> int:
    return 1 if bounds.low > 0 else -1 if bounds.high < 0 else 0


def _edge(difference: Callable[[float], Bounds], inside: float, outside: float, sign: int, within: float) -> float:
    """Where the difference stops having this sign, on the way from `inside` to `outside`."""
    while abs(outside - inside) > within:
        middle = (inside + outside) / 2
        if _sign(difference(middle)) == sign:
            inside = middle
        else:
            outside = middle
    return inside
