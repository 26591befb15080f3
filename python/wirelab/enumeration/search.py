"""Which pattern is run next: the one that leaves most open."""

from __future__ import annotations

import heapq
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from wirelab.enumeration.loss import Loss
from wirelab.enumeration.tree import Branch, Pattern, Run, Tree


@dataclass(frozen=True)
class Asked:
    """A loss model, and how far apart the bounds of each probability may be under it."""

    loss: Loss
    within: float


class _Open(NamedTuple):
    """Of a branch that is not followed: how urgent it is (negative), its number, and its weight under each model."""

    urgency: float
    number: int
    branch: Branch
    weights: tuple[float, ...]


@dataclass
class Search:
    """Grows a tree until every asked probability is bounded. Delays that are asked for are in seconds."""

    asked: Sequence[Asked]
    beyond_s: Sequence[float]
    tree: Tree = field(init=False)
    _open: list[_Open] = field(default_factory=list, init=False)
    _number: count[int] = field(default_factory=count, init=False)
    _taken: set[Pattern] = field(default_factory=set, init=False)
    _left: list[float] = field(init=False)
    """The weight of what is open under each model."""

    def __post_init__(self) -> None:
        self.tree = Tree(max(self.beyond_s))
        self._left = [0.0 for _ in self.asked]

    def add(self, run: Run) -> None:
        """Add a run, and open the branches below it. Raises `RunError` as `Tree.add` does."""
        self.tree.add(run)
        self._taken.discard(run.pattern)
        own = self.tree.runs[run.pattern]
        for at in range(own.first_child, len(own.draws)):
            branch = own.branch(at)
            weights = tuple(each.loss.weight(branch.draws) for each in self.asked)
            urgency = max(weight / each.within for weight, each in zip(weights, self.asked, strict=True))
            heapq.heappush(self._open, _Open(-urgency, next(self._number), branch, weights))
            self._left = [*map(operator.add, self._left, weights)]

    def add_known(self, known: Mapping[Pattern, Run]) -> None:
        """Add runs that were made for another reason, as far as they are branches of the tree."""
        for pattern in sorted(known, key=len):
            parent = self.tree.runs.get(pattern[:-1]) if pattern else None
            if pattern in self.tree.runs or parent is None or pattern[-1] >= len(parent.draws):
                continue
            # None if it was taken and never run.
            if (taken := next((each for each in self._open if each.branch.pattern == pattern), None)) is not None:
                self._open.remove(taken)
                heapq.heapify(self._open)
                self._left = [*map(operator.sub, self._left, taken.weights)]
            self.add(known[pattern])

    def next(self) -> Pattern | None:
        """The pattern that is to be run, the heaviest first; None if every probability is bounded by those that are
        known and those that were taken before. Its run is added then.
        """
        if not self.tree.runs:
            pattern: Pattern = ()
            if pattern in self._taken:
                return None
        elif self.urgency <= 1 or not self._open:
            return None
        else:
            taken = heapq.heappop(self._open)
            self._left = [*map(operator.sub, self._left, taken.weights)]
            pattern = taken.branch.pattern
        self._taken.add(pattern)
        return pattern

    @property
    def urgency(self) -> float:
        """How many times as far apart as they may be the bounds are, under the model where it is most; infinite
        without a run.
        """
        if not self.tree.runs:
            return math.inf
        return max(self.left(at) / each.within for at, each in enumerate(self.asked))

    def left(self, at: int) -> float:
        """The weight of what is open under a model: the largest distance of two bounds."""
        return self._left[at]
