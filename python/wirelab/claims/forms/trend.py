"""A quantity that rises or falls along a factor."""

from __future__ import annotations

from typing import Literal

from wirelab.claims.judgement import Context, Judgement, decided_by, number, within, written
from wirelab.claims.part import Steps
from wirelab.claims.quantities import of_all, quantity, steps_of


class Trend(Steps):
    """`upper` (over `lower`, if given) rises or falls along a factor: the slope of its logarithm over the levels'
    ranks.
    """

    form: Literal["trend"]
    direction: Literal["rising", "falling"]

    def judge(self, context: Context) -> Judgement:
        import numpy as np

        of = f"{context.words(self.upper)} " if self.upper else ""
        text = f"{quantity(self, context)}: {of}{self.direction} along {self.along.path}"
        steps = steps_of(self, context)
        if isinstance(steps, str):
            return context.missing("trend", text, steps)
        ranks = np.arange(len(steps)) - (len(steps) - 1) / 2
        weights = ranks / float((ranks**2).sum())
        # A redrawn CPU time may be 0, whose slope is infinite.
        with np.errstate(divide="ignore", invalid="ignore"):
            point = float(sum(w * np.log(step.point) for w, step in zip(weights, steps, strict=True)))
            values = np.sum([w * np.log(step.values) for w, step in zip(weights, steps, strict=True)], axis=0)
        slope = of_all(steps, float(np.exp(point)), np.exp(values))
        sides = [1.0, None] if self.direction == "rising" else [None, 1.0]
        verdict = within(context, slope, *sides, strict=True)
        some = f", over {len(steps)} of {len(self.along.levels)} levels" if len(steps) < len(self.along.levels) else ""
        why = f"it grows by a factor of {written(number(slope))} a level{some}"
        judged = decided_by(context, verdict, slope)
        return Judgement("trend", text, verdict, why, self.direction, number(slope), judged=judged)
