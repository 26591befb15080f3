"""Two metrics of one case: their quotient."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from wirelab.claims.judgement import Bench, Judgement, decided_by, number, within, written
from wirelab.claims.part import Levels, Part
from wirelab.claims.quantities import quantity


class Quotient(Part):
    """`metric` over the metric `per`, both of the case `of`: it is `published` (`printed` is what its rounding or
    truncation in print allows), or it is `above` a number.
    """

    form: Literal["quotient"]
    per: str
    of: Levels
    published: float | None = Field(default=None, gt=0)
    printed: tuple[float, float] | None = None
    above: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_claim(self) -> Self:
        if (self.above is None) != (self.published is not None) or (self.published is None) != (self.printed is None):
            raise ValueError("needs either `above`, or `published` and `printed`")
        return self

    def metric_names(self) -> list[str]:
        return [self.metric, self.per]

    def judge(self, bench: Bench) -> Judgement:
        """Confirmed if it is above the number, or within the published one divided and multiplied by the factor."""
        levels = {**self.where, **self.of}
        per = bench.labels.get(self.per, self.per)
        claimed = f"above {self.above:g}" if self.above is not None else f"{self.published:g}"
        text = f"{quantity(self, bench)} for each {per}, {bench.words(self.of)}: {claimed}"
        found = []
        for metric in (self.metric, self.per):
            draws = bench.source.draws(metric, self.statistic, levels)
            if draws is None:
                return bench.missing("quotient", text, f"{self.statistic} {metric} of {bench.words(levels)}")
            found.append(draws)
        quotient = found[0].over(found[1])
        why = f"it is {written(number(quotient))}"
        if self.printed is None:
            verdict = within(bench, quotient, self.above, None, strict=True)
        else:
            low, high = self.printed[0] / bench.factor, self.printed[1] * bench.factor
            verdict = within(bench, quotient, low, high)
            why = f"{why}; the published one allows {low:.3g} to {high:.3g}"
        judged = decided_by(bench, verdict, quotient)
        return Judgement("quotient", text, verdict, why, self.published or claimed, number(quotient), judged=judged)
