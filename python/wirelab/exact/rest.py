"""What no enumeration reaches is sampled: runs that begin with a branch and go on at random, with known weights.

A probability is then the exact part, plus the weight of the rest times a share of sampled runs: only the second part
has an interval, and it is as narrow as the rest is light.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

from wirelab.exact.bounds import Bounds, Weighed
from wirelab.exact.loss import Direction, Loss
from wirelab.exact.tree import Branch, Run, Tree
from wirelab.plan import stable_hash
from wirelab.stats.estimate.model import LEVEL
from wirelab.stats.estimate.proportion import clopper_pearson

FURTHER = 200
"""Packets of each direction that are drawn beyond a branch; later ones pass."""


@dataclass(frozen=True)
class Partly:
    """A probability of which a part is exact and the rest sampled: its point, and its interval."""

    exact: Bounds
    point: float
    low: float
    high: float
    n: int


@dataclass
class Rest:
    """Samples the branches of a tree that is grown no more, under one loss model."""

    tree: Tree
    loss: Loss
    seed: int
    runs: list[Run] = field(default_factory=list)
    """One for each sample, in the order of their numbers."""
    _branches: list[Branch] = field(init=False)
    _weights: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self._branches = list(self.tree.branches())
        self._weights = list(accumulate(self.loss.weight(branch.draws) for branch in self._branches))

    @property
    def weight(self) -> float:
        """Of all branches together."""
        return self._weights[-1] if self._weights else 0.0

    def lost(self, number: int) -> Mapping[Direction, Sequence[bool]]:
        """What each direction loses in a sample: it depends on the number alone."""
        random = Random(stable_hash(self.seed, "rest", number))
        [branch] = random.choices(self._branches, cum_weights=self._weights)
        return self.loss.follow(branch.draws, FURTHER, random)

    def beyond(self, x_s: float) -> Partly:
        """P(delay > x), with the 95 % interval of its sampled part."""
        exact = Weighed.of(self.tree, self.loss).beyond(x_s)
        n = len(self.runs)
        if n == 0:
            return Partly(exact, math.nan, exact.low, exact.high, 0)
        runs = math.fsum(self.loss.weight(run.draws) for run in self.tree.runs.values() if run.exceeds(x_s))
        hits = sum(run.exceeds(x_s) for run in self.runs)
        low, high = (runs + self.weight * share for share in clopper_pearson(hits, n, LEVEL))
        # What is known is certain: a branch that began after x takes longer in any case.
        return Partly(exact, runs + self.weight * hits / n, max(low, exact.low), min(high, exact.high), n)
