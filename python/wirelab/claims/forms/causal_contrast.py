"""The effect of a treatment in one case, compared with its effect in another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import Field, StrictFloat

from wirelab.claims.judgement import (
    Context,
    Judgement,
    all_of,
    decided_by,
    number,
    within,
    written,
)
from wirelab.claims.part import Levels, Part
from wirelab.claims.quantities import drawn, quantity
from wirelab.schema.verdicts import Verdict
from wirelab.stats.estimate.model import Estimate

if TYPE_CHECKING:
    from wirelab.stats.estimate.bootstrap import Draws


class CausalContrast(Part):
    """The effect of `treated` over `control` is compared between a case `upper` and a case `lower`.

    `expect` says what the claimed cause predicts of the ratio of the two additions: `equal` (the cause acts alike in
    both; within `margin`), or `above` (it acts in `upper` alone). `per` divides each addition by the sum of these
    metrics' means under control. A `rival` explanation is shown outside the verdict and does not decide it.
    """

    form: Literal["causal-contrast"]
    upper: Levels
    lower: Levels
    treated: Levels
    control: Levels
    expect: Literal["equal", "above"]
    margin: StrictFloat = Field(default=1.25, ge=1)
    per: list[str] = Field(default_factory=list)
    rival: str | None = None

    @property
    def decides(self) -> bool:
        return not self.rival and super().decides

    def judge(self, context: Context) -> Judgement:
        upper, lower = context.words(self.upper), context.words(self.lower)
        treated, control = context.words(self.treated), context.words(self.control)
        share = f" for each of {', '.join(self.per)}" if self.per else ""
        text = f"{quantity(self, context)}: what {treated} adds over {control}{share}, {upper} against {lower}"
        if self.rival:
            text = f"{self.rival} ({text})"
        additions = []
        for case in (self.upper, self.lower):
            addition = _addition(self, case, context)
            if isinstance(addition, str):
                return context.missing("causal-contrast", text, addition)
            additions.append(addition)
        a, b = additions
        surplus, deficit = a.minus(b.times(self.margin)), a.minus(b.times(1 / self.margin))
        if self.expect == "equal":
            verdict = _between(context, surplus, deficit)
            judged = _judged(context, verdict, surplus, f"more than {self.margin:g} times") + _judged(
                context, verdict, deficit, f"more than 1/{self.margin:g}"
            )
            expected = f"alike (within a factor of {self.margin:g})"
        else:
            verdict = within(context, a.minus(b), 0.0, None, strict=True)
            judged = _judged(context, verdict, a.minus(b), "more")
            expected = "more"
        ratio = a.over(b)
        # A ratio to what was not added, or was taken away, has no meaning.
        both_add = a.point > 0 and b.point > 0
        shown = number(ratio) if both_add and ratio.interval(context.confirm)[0] is not None else None
        why = f"{treated} adds {_added(a)} to {upper} and {_added(b)} to {lower}{share}; the cause predicts {expected}"
        return Judgement("causal-contrast", text, verdict, why, ours=shown, judged=judged)


def _between(context: Context, surplus: Draws, deficit: Draws) -> Verdict:
    """Confirmed if the surplus over the margin is below 0 and the deficit above; contradicted if one is not at all."""
    above, below = within(context, surplus, None, 0.0), within(context, deficit, 0.0, None)
    return all_of([above, below])


def _addition(part: CausalContrast, case: Levels, context: Context) -> Draws | str:
    where = {**part.where, **case}
    values = []
    for state in (part.treated, part.control):
        draws = drawn(part, {**where, **state}, context)
        if draws is None:
            return f"{part.statistic} {part.metric} of {context.words({**where, **state})}"
        values.append(draws)
    added = values[0].minus(values[1])
    if not part.per:
        return added
    exposed = 0.0
    for metric in part.per:
        draws = context.source.draws(metric, "mean", {**where, **part.control})
        if draws is None:
            return f"{metric} of {context.words({**where, **part.control})}"
        exposed += draws.point
        if not any(draws.tells):
            added = replace(added, tells=draws.tells)
    return added.times(1 / exposed) if exposed > 0 else f"{', '.join(part.per)} of {context.words(where)}"


def _judged(context: Context, verdict: Verdict, difference: Draws, words: str) -> tuple[tuple[str, Estimate], ...]:
    return decided_by(context, verdict, difference.times(1e3), f"{words}, by ms")


def _added(draws: Draws) -> str:
    estimate = number(draws.times(1e3))
    return f"{written(estimate)} ms"
