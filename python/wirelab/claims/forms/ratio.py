"""A published ratio of two cases."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, StrictFloat

from wirelab.claims.judgement import (
    CONFIRMED,
    Context,
    Judgement,
    all_of,
    decided_by,
    number,
    smallest_tolerance,
    tolerance_words,
    within,
    written,
)
from wirelab.claims.part import Levels, Part, Printed
from wirelab.claims.quantities import quantity, ratio_of


class Ratio(Part):
    """`upper` over `lower` has a published value. `printed` is what its rounding or truncation in print allows."""

    form: Literal["ratio"]
    upper: Levels
    lower: Levels
    published: StrictFloat = Field(gt=0)
    printed: Printed

    def judge(self, context: Context) -> Judgement:
        upper, lower = context.words(self.upper), context.words(self.lower)
        text = f"{quantity(self, context)}: {upper} {self.published:g} times {lower}"
        ratio = ratio_of(self, self.upper, self.lower, context)
        if isinstance(ratio, str):
            return context.missing("ratio", text, ratio)
        low, high = self.printed[0] / context.factor, self.printed[1] * context.factor
        size = within(context, ratio, low, high)
        sides = [1.0, None] if self.published > 1 else [None, 1.0]
        side = within(context, ratio, *sides, strict=True) if self.published != 1 else CONFIRMED
        why = f"the ratio is {written(number(ratio))}; direction {side}, magnitude ({low:.3g} to {high:.3g}) {size}"
        tolerance = smallest_tolerance(context, ratio, *self.printed)
        verdict = all_of([side, size])
        judged = decided_by(context, verdict, ratio)
        return Judgement(
            "ratio", text, verdict, why + tolerance_words(tolerance), self.published, number(ratio), judged=judged,
            tolerance=tolerance,
        )  # fmt: skip
