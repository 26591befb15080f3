"""Two cases that do not differ by more than a margin."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from wirelab.claims.judgement import Bench, Judgement, decided_by, number, within, written
from wirelab.claims.part import Levels, Part
from wirelab.claims.quantities import quantity, ratio_of


class Equivalence(Part):
    """`upper` over `lower` lies between 1 / `margin` and `margin`."""

    form: Literal["equivalence"]
    upper: Levels
    lower: Levels
    margin: float = Field(gt=1)

    def judge(self, bench: Bench) -> Judgement:
        upper, lower = bench.words(self.upper), bench.words(self.lower)
        text = f"{quantity(self, bench)}: {upper} within a factor of {self.margin:g} of {lower}"
        ratio = ratio_of(self, self.upper, self.lower, bench)
        if isinstance(ratio, str):
            return bench.missing("equivalence", text, ratio)
        verdict = within(bench, ratio, 1 / self.margin, self.margin)
        why = f"the ratio is {written(number(ratio))}; the margin is {1 / self.margin:.3g} to {self.margin:.3g}"
        judged = decided_by(bench, verdict, ratio)
        return Judgement("equivalence", text, verdict, why, f"within {self.margin:g}", number(ratio), judged=judged)
