"""The place along a factor where a constant quantity begins to rise or fall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from wirelab.claims.judgement import Context, Judgement, all_of, decided_by, number, within, written
from wirelab.claims.part import Place
from wirelab.claims.quantities import of_all, quantity, steps_of

if TYPE_CHECKING:
    from wirelab.stats.estimate.sample import Floats

TRIED = 20
"""Places that are tried for each step from one level to the next."""


class Bend(Place):
    """Along a factor `upper` (over `lower`, if given) is constant up to a place between the two published levels, and
    rises or falls behind it: of the pairs of lines that meet, the first of them level, those that fit its logarithm
    over the levels' ranks best meet there.
    """

    form: Literal["bend"]
    direction: Literal["rising", "falling"]

    def judge(self, context: Context) -> Judgement:
        """Confirmed if the place lies between the published levels and the slope after it has the claimed sign."""
        import numpy as np

        first, last = self.published
        of = f"{context.words(self.upper)} " if self.upper else ""
        text = (
            f"{quantity(self, context)}: {of}level up to a place between {first} and {last} of "
            f"{self.along.path}, then {self.direction}"
        )
        steps = steps_of(self, context)
        if isinstance(steps, str):
            return context.missing("bend", text, steps)
        # A redrawn CPU time may be 0, which is level with nothing.
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = fit(np.log(np.array([step.values for step in steps])))
            point = fit(np.log(np.array([[step.point] for step in steps])))
        place = of_all(steps, float(point.place[0]), drawn.place)
        slope = of_all(steps, float(np.exp(point.slope[0])), np.exp(drawn.slope))
        bounds = [float(self.along.levels.index(level)) for level in self.published]
        where = within(context, place, min(bounds), max(bounds))
        sides = [1.0, None] if self.direction == "rising" else [None, 1.0]
        side = within(context, slope, *sides, strict=True)
        verdict = all_of([where, side])
        why = (
            f"it bends at {written(number(place))} of the levels {', '.join(self.along.levels)}, from 0 ({where}), and "
            f"grows by a factor of {written(number(slope))} a level behind it ({side})"
        )
        judged = decided_by(context, where, place, "position") + decided_by(context, side, slope, "factor a level")
        return Judgement("bend", text, verdict, why, f"{first} to {last}", number(place), judged=judged)


class Fit(NamedTuple):
    """For each column: where the lines meet, in levels from 0, and the slope of the second for each level."""

    place: Floats
    slope: Floats


def fit(logs: Floats) -> Fit:
    """The least squares over all places for each column of `logs`, whose rows are the levels."""
    import numpy as np

    ranks = np.arange(len(logs), dtype=np.float64)
    # Every place between the last two levels fits equally well.
    places = np.linspace(0, len(logs) - 2, TRIED * (len(logs) - 2) + 1)
    behind = np.maximum(ranks[None, :] - places[:, None], 0)
    behind -= behind.mean(axis=1, keepdims=True)
    spread = (behind**2).sum(axis=1)
    # The residual sum of squares is smallest where the explained sum of squares is largest.
    together = behind @ logs
    best = np.argmax(together**2 / spread[:, None], axis=0)
    columns = np.arange(logs.shape[1])
    return Fit(places[best], together[best, columns] / spread[best])
