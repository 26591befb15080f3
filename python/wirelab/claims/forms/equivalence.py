"""Two cases that do not differ by more than a margin."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, StrictFloat

from wirelab.claims.judgement import (
    Context,
    Judgement,
    decided_by,
    number,
    smallest_tolerance,
    tolerance_words,
    within,
    written,
)
from wirelab.claims.part import Levels, Part
from wirelab.claims.quantities import quantity, ratio_of


class Equivalence(Part):
    """`upper` over `lower` lies between 1 / `margin` and `margin`."""

    form: Literal["equivalence"]
    upper: Levels
    lower: Levels
    margin: StrictFloat = Field(gt=1)

    def judge(self, context: Context) -> Judgement:
        upper, lower = context.words(self.upper), context.words(self.lower)
        text = f"{quantity(self, context)}: {upper} within a factor of {self.margin:g} of {lower}"
        ratio = ratio_of(self, self.upper, self.lower, context)
        if isinstance(ratio, str):
            return context.missing("equivalence", text, ratio)
        verdict = within(context, ratio, 1 / self.margin, self.margin)
        why = f"the ratio is {written(number(ratio))}; the margin is {1 / self.margin:.3g} to {self.margin:.3g}"
        judged = decided_by(context, verdict, ratio)
        tolerance = smallest_tolerance(context, ratio, 1.0, 1.0)
        return Judgement(
            "equivalence", text, verdict, why + tolerance_words(tolerance), f"within {self.margin:g}", number(ratio),
            judged=judged, tolerance=tolerance,
        )  # fmt: skip
