"""The share of exchanges whose value is above a bound."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, StrictFloat, model_validator

from wirelab.claims.judgement import (
    Context,
    Estimable,
    Judgement,
    decided_by,
    number,
    smallest_tolerance,
    tolerance_words,
    within,
    written,
)
from wirelab.claims.part import Levels, Part, Printed
from wirelab.experiment.file.quantities import PositiveDuration
from wirelab.units import UnitError, format_duration, format_share

BOUNDS = ("published", "least", "most", "lower")


class ShareBeyond(Part):
    """The share of the exchanges of `upper` whose metric is above `beyond`: it is `published` (`printed` is what its
    rounding or truncation in print allows), at `least` or at `most` a share, or above that of the case `lower`. Shares
    are fractions. They are of the exchanges that completed or timed out; a time-out counts as beyond.
    """

    form: Literal["share-beyond"]
    upper: Levels
    beyond: PositiveDuration
    published: StrictFloat | None = Field(default=None, ge=0, le=1)
    printed: Printed | None = None
    least: StrictFloat | None = Field(default=None, gt=0, le=1)
    most: StrictFloat | None = Field(default=None, ge=0, lt=1)
    lower: Levels | None = None

    @model_validator(mode="after")
    def _one_claim(self) -> Self:
        for key in ("statistic", "horizon"):
            if key in self.model_fields_set:
                raise UnitError(f"a share has no `{key}`", f"remove `{key}`")
        given = [key for key in BOUNDS if getattr(self, key) is not None]
        if len(given) != 1 or (self.published is None) != (self.printed is None):
            raise ValueError("needs `published` and `printed`, or one of `least`, `most` and `lower`")
        if self.printed is not None and not 0 <= self.printed[0] <= self.printed[1] <= 1:
            raise ValueError("`printed` needs two shares from 0 to 1")
        return self

    def judge(self, context: Context) -> Judgement:
        """Shares have Korn-Graubard intervals, which a share of 0 does not make empty as it does a bootstrap's."""
        metric, bound = context.labels.get(self.metric, self.metric), format_duration(self.beyond)
        where = f", {context.words(self.where)}" if self.where else ""
        claimed = self._claimed(context)
        text = f"share with {metric} beyond {bound}{where}: {context.words(self.upper)} {claimed}"
        from wirelab.stats.estimate.proportion import ShareDifference

        shares = []
        for side in (self.upper, *([self.lower] if self.lower is not None else [])):
            levels = {**self.where, **side}
            found = context.source.beyond(self.metric, self.beyond / 1e9, levels)
            if found is None:
                return context.missing("share-beyond", text, f"{metric} beyond {bound} of {context.words(levels)}")
            shares.append(found)
        judged: Estimable = shares[0]
        why = f"the share is {written(number(shares[0]))}"
        low, high, tolerance = self.least, self.most, None
        if self.lower is not None:
            judged, low = ShareDifference(*shares), 0.0
            why += (
                f", that of {context.words(self.lower)} {written(number(shares[1]))}: more by {written(number(judged))}"
            )
        if self.printed is not None:
            low, high = self.printed[0] / context.factor, min(self.printed[1] * context.factor, 1.0)
            tolerance = smallest_tolerance(context, judged, *self.printed)
            why += f"; the published one allows {low:.3g} to {high:.3g}{tolerance_words(tolerance)}"
        verdict = within(context, judged, low, high, strict=self.lower is not None)
        return Judgement(
            "share-beyond", text, verdict, why, claimed if self.published is None else self.published, number(judged),
            judged=decided_by(context, verdict, judged), tolerance=tolerance,
        )  # fmt: skip

    def _claimed(self, context: Context) -> str:
        if self.lower is not None:
            return f"above {context.words(self.lower)}"
        if self.published is not None:
            return format_share(self.published)
        return (
            f"at least {format_share(self.least)}"
            if self.least is not None
            else f"at most {format_share(self.most or 0)}"
        )
