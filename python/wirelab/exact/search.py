"""Which pattern is run next: the one that leaves most open."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from wirelab.exact.loss import Loss
from wirelab.exact.tree import Branch, Pattern, Run, Tree


@dataclass(frozen=True)
class Asked:
    """A loss model, and how far apart the bounds of each probability may be under it."""

    loss: Loss
    within: float


@dataclass
class Search:
    """Grows a tree until every asked probability is bounded. Delays that are asked for are in seconds."""

    asked: Sequence[Asked]
    beyond_s: Sequence[float]
    tree: Tree = field(init=False)
    _open: list[tuple[float, int, Branch]] = field(default_factory=list, init=False)
    _number: count[int] = field(default_factory=count, init=False)

    def __post_init__(self) -> None:
        self.tree = Tree(max(self.beyond_s))

    def add(self, run: Run) -> None:
        """Add a run, and open the branches below it. Raises `RunError` as `Tree.add` does."""
        self.tree.add(run)
        own = self.tree.runs[run.pattern]
        for at in range(own.first_child, len(own.draws)):
            branch = own.branch(at)
            share = max(each.loss.weight(branch.draws) / each.within for each in self.asked)
            heapq.heappush(self._open, (-share, next(self._number), branch))

    def next(self, most: int) -> list[Pattern]:
        """Up to so many patterns that are to be run, the heaviest first; none if every probability is bounded. They
        are no longer open: whoever takes them adds their runs.
        """
        if not self.tree.runs:
            return [()]
        if self.bounded:
            return []
        return [heapq.heappop(self._open)[2].pattern for _ in range(min(most, len(self._open)))]

    @property
    def bounded(self) -> bool:
        """Whether what is open is little enough under each model."""
        return all(self.left(each.loss) <= each.within for each in self.asked)

    def left(self, loss: Loss) -> float:
        """The weight of what is open: the largest distance of two bounds."""
        return math.fsum(loss.weight(branch.draws) for _, _, branch in self._open)
