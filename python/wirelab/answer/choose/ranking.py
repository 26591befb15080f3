"""Which of several choices is first, by trials that differ and constants of a radio that nobody knows exactly. Pure.

Two choices are compared within each replicate, since trials of one replicate begin alike. The constants of the radio
are drawn together for all choices: where each state's joules lie between their bounds is one number for a draw. A
choice is first if it is below every other one in 95 % of the draws, by more than what trials leave open (Student's t,
with its level shared among the rivals and the times that one looked), and by at least 1 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wirelab.schema.bounds import Bounds
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.student import student_reach

Floats = NDArray[np.float64]
ALIKE = 1.01
"""Values that differ by less are alike, whatever is known."""
CLOSE = 1.02
"""What is within this of the first, whatever trials and the radio leave open, needs no more trials."""
DRAWS = 500
LOOKS = (5, 8, 12)
"""After so many replicates one looks whether the first is decided."""
DATA = "data"
"""The only state of what no radio weighs."""

Parts = Mapping[str, Bounds]
"""What a message costs in one trial, by state of the radio."""


@dataclass(frozen=True)
class Ranking:
    """`order`: lowest first. `first` is None if none is; then those `alike` share the first rank. `gap` is the second
    over the first. Of those alike, more trials may yet separate the `unsettled` from the lowest, or show them equal.
    """

    order: tuple[str, ...]
    means: Mapping[str, float]
    first: str | None
    alike: tuple[str, ...]
    gap: Estimate | None
    unsettled: tuple[str, ...] = ()

    def rank(self, name: str) -> int:
        """From 1 on; those that are alike share the first, and the next comes behind all of them."""
        if name in self.alike:
            return 1
        return len(self.alike) + [each for each in self.order if each not in self.alike].index(name) + 1


def exactly(value: float) -> Parts:
    """A value that no radio weighs."""
    return {DATA: {"low": value, "typical": value, "high": value}}


def ranked(values: Mapping[str, Sequence[Parts]], seed: int, looks: int = len(LOOKS)) -> Ranking:
    """Rank choices by their trials; the n-th trial of each is of the n-th replicate. Raises `ValueError` if a choice
    has no trial, or if they differ in number.
    """
    numbers = {len(trials) for trials in values.values()}
    if not values or len(numbers) != 1 or 0 in numbers:
        raise ValueError(f"as many trials of each, not {sorted(numbers)}")
    typical = {name: [_sum(trial) for trial in trials] for name, trials in values.items()}
    means = {name: math.fsum(each) / len(each) for name, each in typical.items()}
    order = tuple(sorted(means, key=lambda name: (means[name], name)))
    best, *rivals = order
    if not rivals:
        return Ranking(order, means, best, (best,), None)
    weights = _weights(values, seed)
    drawn = {name: np.log(_drawn(trials, weights)) for name, trials in values.items()}
    below, gaps, reaches = {}, {}, {}
    for rival in rivals:
        differences = drawn[rival] - drawn[best]
        reach = reaches[rival] = _reach(np.log(typical[rival]) - np.log(typical[best]), len(rivals) * looks)
        below[rival] = differences - reach > 0
        gaps[rival] = _gap(
            differences, means[rival] / means[best], reach, len(typical[rival]), weighed=[*weights] != [DATA]
        )
    apart = _apart({rival: below[rival] for rival in rivals if means[rival] / means[best] >= ALIKE})
    level = tuple(rival for rival in rivals if rival not in apart)
    unsettled = tuple(each for each in level if not _is_equal(gaps[each]) and reaches[each] >= math.log(ALIKE))
    return Ranking(order, means, None if level else best, (best, *level), gaps[rivals[0]], unsettled)


def is_settled(ranking: Ranking) -> bool:
    """Whether more trials would change nothing that matters: each choice is above the first, or known to be alike, or
    trials leave less than 1 % open, so that the radio's constants alone decide.
    """
    return not ranking.unsettled


def first_of(values: Mapping[str, float]) -> tuple[str, ...]:
    """The lowest and those that are alike with it, by their names."""
    if not values:
        return ()
    least = min(values.values())
    return tuple(sorted(name for name, value in values.items() if value < least * ALIKE))


def _is_equal(gap: Estimate) -> bool:
    return gap.high is not None and gap.high < CLOSE


def _apart(below: Mapping[str, NDArray[np.bool_]]) -> set[str]:
    """As many rivals as possible that the best is below of in 95 % of the draws, of all of them in the same draws:
    what each is for itself they may not be together.
    """
    found, together = set[str](), np.ones(DRAWS, dtype=np.bool_)
    for rival in sorted(below, key=lambda name: (-below[name].mean(), name)):
        together &= below[rival]
        if together.mean() < LEVEL:
            break
        found.add(rival)
    return found


def _sum(trial: Parts) -> float:
    return math.fsum(each["typical"] for each in trial.values())


def _weights(values: Mapping[str, Sequence[Parts]], seed: int) -> dict[str, Floats]:
    """Of each state: where between its bounds it lies in each draw, 0 to 1. They do not depend on each other."""
    states = sorted({state for trials in values.values() for trial in trials for state in trial})
    rng = np.random.default_rng(seed)
    return {state: rng.random(DRAWS) for state in states}


def _drawn(trials: Sequence[Parts], weights: Mapping[str, Floats]) -> Floats:
    """The mean over trials in each draw."""
    totals: Floats = np.zeros(DRAWS)
    for trial in trials:
        for state, each in trial.items():
            at = weights[state]
            lower = each["low"] + (each["typical"] - each["low"]) * 2 * at
            upper = each["typical"] + (each["high"] - each["typical"]) * (2 * at - 1)
            totals = totals + np.where(at < 0.5, lower, upper)
    return totals / len(trials)


def _reach(differences: Floats, comparisons: int) -> float:
    """How far the mean of paired differences may lie from the truth, on one side. Infinite of one trial."""
    return student_reach(differences.tolist(), (1 - LEVEL) / comparisons) if len(differences) > 1 else math.inf


def _gap(differences: Floats, point: float, reach: float, n: int, *, weighed: bool) -> Estimate:
    """`n` trials of each; `weighed` by a radio."""
    method = "over trials (Student's t)" + f" and {DRAWS} draws of the radio's constants" * weighed
    if math.isinf(reach):
        return Estimate(point, None, None, LEVEL, n, "no interval: one trial")
    low, high = np.quantile(differences, [(1 - LEVEL) / 2, 1 - (1 - LEVEL) / 2])
    return Estimate(
        point, min(point, math.exp(low - reach)), max(point, math.exp(high + reach)), LEVEL, n, method
    )  # fmt: skip
