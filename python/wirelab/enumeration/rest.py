"""What no enumeration reaches is sampled: runs that begin with a branch and go on at random, with known weights.

A probability is then the exact part, plus the weight of the rest times a share of sampled runs: only the second part
has an interval, and it is as narrow as the rest is light.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

from wirelab.enumeration.bounds import Bounds, Weighed
from wirelab.enumeration.loss import Loss
from wirelab.enumeration.tree import Branch, Run, Tree
from wirelab.plan import stable_hash
from wirelab.schema.exact import Direction
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
    _weighed: Weighed = field(init=False)
    _starts_s: list[float] = field(default_factory=list, init=False)
    """When the branch of each sample begins."""

    def __post_init__(self) -> None:
        self._branches = list(self.tree.branches())
        self._weights = list(accumulate(self.loss.weight(branch.draws) for branch in self._branches))
        self._weighed = Weighed.of(self.tree, self.loss)

    @property
    def weight(self) -> float:
        """Of all branches together."""
        return self._weights[-1] if self._weights else 0.0

    @property
    def branches(self) -> str:
        """A digest of them: samples of other branches are other samples."""
        return hashlib.sha256(repr(sorted(self.tree.runs)).encode()).hexdigest()[:12]

    def lost(self, number: int) -> Mapping[Direction, Sequence[bool]]:
        """What each direction loses in a sample: it depends on the number alone."""
        random, branch = self._drawn(number)
        return self.loss.follow(branch.draws, FURTHER, random)

    def _drawn(self, number: int) -> tuple[Random, Branch]:
        """The branch that a sample begins with, and what draws the rest of it."""
        random = Random(stable_hash(self.seed, "rest", number))
        [branch] = random.choices(self._branches, cum_weights=self._weights)
        return random, branch

    def beyond(self, x_s: float) -> Partly:
        """P(delay > x), with the 95 % interval of its sampled part: of branches of which it is not known whether their
        runs take longer.
        """
        exact = self._weighed.beyond(x_s)
        for number in range(len(self._starts_s), len(self.runs)):
            self._starts_s.append(self._drawn(number)[1].draws[-1].at_s)
        open_ = [run for run, at_s in zip(self.runs, self._starts_s, strict=True) if at_s <= x_s]
        n = len(open_)
        if n == 0:
            return Partly(exact, (exact.low + exact.high) / 2, exact.low, exact.high, 0)
        hits = sum(run.exceeds(x_s) for run in open_)
        low, high = (exact.low + exact.width * share for share in clopper_pearson(hits, n, LEVEL))
        return Partly(exact, exact.low + exact.width * hits / n, low, high, n)
