"""How much of a difference each of several causes makes: Shapley values over interventions.

Each cause can be taken away. What one adds depends on which others are there, so it is averaged over all orders in
which they could come (Shapley 1953): the shares sum to what all causes make together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

Subset = frozenset[str]


def subsets(causes: Sequence[str]) -> list[Subset]:
    """All of them: what has to be run."""
    return [frozenset(each) for size in range(len(causes) + 1) for each in combinations(causes, size)]


def shapley(causes: Sequence[str], value: Callable[[Subset], float]) -> dict[str, float]:
    """The share of each cause in value(all) - value(none)."""
    n = len(causes)
    weights = [math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n) for size in range(n)]
    return {
        cause: math.fsum(
            weights[len(others)] * (value(others | {cause}) - value(others))
            for others in subsets([each for each in causes if each != cause])
        )
        for cause in causes
    }
