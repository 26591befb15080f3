"""A ratio of two cases that another factor changes, or does not."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, StrictFloat, ValidationInfo, field_validator

from wirelab.claims.judgement import Context, Judgement, decided_by, number, within, written
from wirelab.claims.part import Levels, Part
from wirelab.claims.quantities import quantity, ratio_of
from wirelab.units import UnitError


class Interaction(Part):
    """The ratio `upper` over `lower` under the levels `first`, divided by the same ratio under `second`: it is within
    `margin` of 1 either way (`none`), or above or below 1.
    """

    form: Literal["interaction"]
    upper: Levels
    lower: Levels
    first: Levels
    second: Levels
    margin: StrictFloat | None = Field(default=None, gt=1)
    expect: Literal["none", "above", "below"]

    @field_validator("expect")
    @classmethod
    def _margin_of_none(cls, expect: str, info: ValidationInfo[object]) -> str:
        if "margin" in info.data and (expect == "none") != (info.data["margin"] is not None):
            needs = ("needs a margin", "such as margin = 1.25") if expect == "none" else ("has no margin", "remove it")
            raise UnitError(*needs)
        return expect

    def judge(self, context: Context) -> Judgement:
        upper, lower = context.words(self.upper), context.words(self.lower)
        first, second = context.words(self.first), context.words(self.second)
        margin = self.margin or 1.0
        expected = f"within a factor of {margin:g} of" if self.expect == "none" else self.expect
        text = f"{quantity(self, context)}: {upper} over {lower}, {first} {expected} {second}"
        ratios = []
        for levels in (self.first, self.second):
            case = self.model_copy(update={"where": {**self.where, **levels}})
            ratio = ratio_of(case, self.upper, self.lower, context)
            if isinstance(ratio, str):
                return context.missing("interaction", text, ratio)
            ratios.append(ratio)
        both = ratios[0].over(ratios[1])
        low, high = {"none": (1 / margin, margin), "above": (1.0, None), "below": (None, 1.0)}[self.expect]
        verdict = within(context, both, low, high, strict=self.expect != "none")
        why = (
            f"the ratio is {written(number(ratios[0]))} ({first}) and {written(number(ratios[1]))} ({second}), "
            f"and their quotient {written(number(both))}"
        )
        judged = decided_by(context, verdict, both)
        return Judgement("interaction", text, verdict, why, self.expect, number(both), judged=judged)
