"""Which interval of the share of lost messages holds the truth, and how wide it is, by how losses come in trials.

    PYTHONPATH=python python -m tests.answer.choose.losses 4000

prints the table of `docs/design/decisions.md`. A trial has as many messages as one of `choose`, and trials differ by
their seeds.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from wirelab.answer.choose.candidates import MESSAGES
from wirelab.stats.estimate.model import LEVEL
from wirelab.stats.estimate.proportion import clopper_pearson, share

TRIALS = (2, 3, 5, 10)
Lost = NDArray[np.bool_]
"""By trial and message."""


@dataclass(frozen=True)
class Losses:
    """`draw` gives the messages that so many trials lose; `truth` is the share of them."""

    name: str
    truth: float
    draw: Callable[[int, np.random.Generator], Lost]


def independent(rate: float) -> Losses:
    """Each message for itself."""
    return Losses(f"independent, {rate:.1%}", rate, lambda trials, rng: rng.random((trials, MESSAGES)) < rate)


def bursts(p: float, r: float) -> Losses:
    """Gilbert-Elliott over the messages of a trial: a chain that moves with each, and loses all in its bad state."""
    bad = p / (p + r)

    def draw(trials: int, rng: np.random.Generator) -> Lost:
        state = rng.random(trials) < bad
        found = np.empty((trials, MESSAGES), dtype=np.bool_)
        for message in range(MESSAGES):
            found[:, message] = state
            moves = rng.random(trials)
            state = np.where(state, moves >= r, moves < p)
        return found

    return Losses(f"bursts of {1 / r:.0f} messages, {bad:.1%}", bad, draw)


def by_trial(rate: float, alike: float) -> Losses:
    """Trials with shares of their own (beta), whose messages are correlated by `alike`."""
    both = (1 - alike) / alike

    def draw(trials: int, rng: np.random.Generator) -> Lost:
        own = rng.beta(rate * both, (1 - rate) * both, (trials, 1))
        return rng.random((trials, MESSAGES)) < own

    return Losses(f"trials differ (correlation {alike:g}), {rate:.1%}", rate, draw)


MODELS = (
    independent(0.002), independent(0.05), independent(0.2), bursts(0.02, 0.25), bursts(0.005, 0.1),
    by_trial(0.05, 0.1), by_trial(0.05, 0.5),
)  # fmt: skip


@dataclass(frozen=True)
class Cover:
    """How often an interval held the truth, and its mean width."""

    held: float
    width: float


def korn_graubard(lost: Sequence[int]) -> tuple[float, float]:
    """Over trials, as `choose` has it."""
    found = share(lost, [MESSAGES] * len(lost), LEVEL)
    return found.low or 0.0, 1.0 if found.high is None else found.high


def by_message(lost: Sequence[int]) -> tuple[float, float]:
    """As if all messages were independent."""
    return clopper_pearson(sum(lost), MESSAGES * len(lost), LEVEL)


INTERVALS = {"over trials": korn_graubard, "by message": by_message}


def simulate(losses: Losses, trials: int, repetitions: int) -> dict[str, Cover]:
    """Both intervals of the same draws. The same seed gives the same numbers."""
    rng = np.random.default_rng(zlib.crc32(f"{losses.name} {trials}".encode()))
    drawn = losses.draw(trials * repetitions, rng).sum(axis=1).reshape(repetitions, trials)
    seen: dict[tuple[int, ...], int] = {}
    for lost in drawn.tolist():
        seen[tuple(sorted(lost))] = seen.get(tuple(sorted(lost)), 0) + 1
    found = {}
    for name, interval in INTERVALS.items():
        ends = [(interval(lost), count) for lost, count in seen.items()]
        held = sum(count for (low, high), count in ends if low <= losses.truth <= high)
        width = sum((high - low) * count for (low, high), count in ends)
        found[name] = Cover(held / repetitions, width / repetitions)
    return found


def table(repetitions: int) -> str:
    """A row for each way of losing messages, with how many intervals hold the truth and their mean width in points."""
    heads = [f"{name}, {trials} trials" for trials in TRIALS for name in INTERVALS]
    rows = [["losses", *heads], ["---"] * (len(heads) + 1)]
    for losses in MODELS:
        cells = [simulate(losses, trials, repetitions)[name] for trials in TRIALS for name in INTERVALS]
        rows.append([losses.name, *(f"{100 * each.held:.0f} % ({100 * each.width:.0f})" for each in cells)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def widths(trials: int, repetitions: int) -> float:
    """The mean width of the interval over trials, over all models."""
    return fmean(simulate(each, trials, repetitions)["over trials"].width for each in MODELS)


if __name__ == "__main__":
    print(table(int(sys.argv[1])))
