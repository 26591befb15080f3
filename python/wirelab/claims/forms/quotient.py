"""The quotient of two metrics of one case."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, StrictFloat, model_validator

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
from wirelab.claims.part import Levels, Part, Printed
from wirelab.claims.quantities import drawn, quantity


class Quotient(Part):
    """`metric` over the metric `per`, both of the case `of`: it is `published` (`printed` is what its rounding or
    truncation in print allows), or it is `above` a number.
    """

    form: Literal["quotient"]
    per: str
    of: Levels
    published: StrictFloat | None = Field(default=None, gt=0)
    printed: Printed | None = None
    above: StrictFloat | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_claim(self) -> Self:
        if (self.above is None) != (self.published is not None) or (self.published is None) != (self.printed is None):
            raise ValueError("needs either `above`, or `published` and `printed`")
        return self

    def metric_names(self) -> list[str]:
        return [self.metric, self.per]

    def judge(self, context: Context) -> Judgement:
        """Confirmed if it is above the number, or within the published one divided and multiplied by the factor."""
        levels = {**self.where, **self.of}
        per = context.labels.get(self.per, self.per)
        claimed = f"above {self.above:g}" if self.above is not None else f"{self.published:g}"
        text = f"{quantity(self, context)} for each {per}, {context.words(self.of)}: {claimed}"
        found = []
        for metric in (self.metric, self.per):
            draws = drawn(self, levels, context, metric)
            if draws is None:
                return context.missing("quotient", text, f"{self.statistic} {metric} of {context.words(levels)}")
            found.append(draws)
        quotient = found[0].over(found[1])
        why = f"it is {written(number(quotient))}"
        tolerance = None
        if self.printed is None:
            verdict = within(context, quotient, self.above, None, strict=True)
        else:
            low, high = self.printed[0] / context.factor, self.printed[1] * context.factor
            verdict = within(context, quotient, low, high)
            tolerance = smallest_tolerance(context, quotient, *self.printed)
            why = f"{why}; the published one allows {low:.3g} to {high:.3g}{tolerance_words(tolerance)}"
        judged = decided_by(context, verdict, quotient)
        return Judgement(
            "quotient",
            text,
            verdict,
            why,
            self.published or claimed,
            number(quotient),
            judged=judged,
            tolerance=tolerance,
        )
