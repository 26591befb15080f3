"""Claims about where a quantity, level until then, begins to rise or fall."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wirelab.claims.judgement import Bench, Judgement, all_of, decided_by, number, within, written
from wirelab.claims.model import Bend
from wirelab.claims.quantities import of_all, quantity, steps_of
from wirelab.stats.sample import Floats

TRIED = 20
"""Places that are tried for each step from one level to the next."""


class Fit(NamedTuple):
    """Of each column: where the lines meet, in levels from 0, and the slope of the second for each level."""

    place: Floats
    slope: Floats


def judge_bend(part: Bend, bench: Bench) -> Judgement:
    """Held if the place lies between the published levels and the slope behind it on its side."""
    first, last = part.published
    of = f"{bench.words(part.upper)} " if part.upper else ""
    text = (
        f"{quantity(part, bench)}: {of}level up to a place between {first} and {last} of "
        f"{part.along.path}, then {part.direction}"
    )
    steps = steps_of(part, bench)
    if isinstance(steps, str):
        return bench.missing("bend", text, steps)
    drawn = fit(np.log(np.array([step.values for step in steps])))
    point = fit(np.log(np.array([[step.point] for step in steps])))
    place = of_all(steps, float(point.place[0]), drawn.place)
    slope = of_all(steps, float(np.exp(point.slope[0])), np.exp(drawn.slope))
    bounds = [float(part.along.levels.index(level)) for level in part.published]
    where = within(bench, place, min(bounds), max(bounds))
    sides = [1.0, None] if part.direction == "rising" else [None, 1.0]
    side = within(bench, slope, *sides, strict=True)
    verdict = all_of([where, side])
    why = (
        f"it bends at {written(number(place))} of the levels {', '.join(part.along.levels)}, from 0 ({where}), and "
        f"grows by a factor of {written(number(slope))} a level behind it ({side})"
    )
    judged = decided_by(bench, where, place, "position") + decided_by(bench, side, slope, "factor a level")
    return Judgement("bend", text, verdict, why, f"{first} to {last}", number(place), judged=judged)


def fit(logs: Floats) -> Fit:
    """The least squares over all places for each column of `logs`, whose rows are the levels."""
    ranks = np.arange(len(logs), dtype=np.float64)
    # Wherever it lies between the last two levels, the lines fit alike.
    places = np.linspace(0, len(logs) - 2, TRIED * (len(logs) - 2) + 1)
    behind = np.maximum(ranks[None, :] - places[:, None], 0)
    behind -= behind.mean(axis=1, keepdims=True)
    spread = (behind**2).sum(axis=1)
    # The sum of squares that a place leaves over is smallest where what its line explains is largest.
    together = behind @ logs
    best = np.argmax(together**2 / spread[:, None], axis=0)
    columns = np.arange(logs.shape[1])
    return Fit(places[best], together[best, columns] / spread[best])
