"""The mean of a few values that are alike in kind, such as one of each trial, by Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wirelab.stats.estimate.model import LEVEL, Estimate

METHOD = "Student's t over trials"


def student(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """Raises `ValueError` without any; fewer than two have no interval."""
    n = len(values)
    if not n:
        raise ValueError("a mean of no value")
    point = math.fsum(values) / n
    if n < 2:
        return Estimate(point, None, None, level, n, "no interval: one trial")
    reach = student_reach(values, (1 - level) / 2)
    return Estimate(point, point - reach, point + reach, level, n, METHOD)


def student_reach(values: Sequence[float], tail: float) -> float:
    """How far the mean of two or more values may lie from the truth on one side, but for a chance of `tail`."""
    from scipy.special import stdtrit

    n = len(values)
    point = math.fsum(values) / n
    error = math.sqrt(math.fsum((value - point) ** 2 for value in values) / (n - 1) / n)
    return float(-stdtrit(n - 1, tail)) * error
