"""The level of a factor from which on one case is above another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import Field, StrictFloat, ValidationInfo, field_validator

from wirelab.claims.judgement import (
    INCONCLUSIVE,
    Context,
    Judgement,
    all_of,
    decided_by,
    number,
    within,
    written,
)
from wirelab.claims.part import EveryStep, Levels, known_along
from wirelab.claims.quantities import of_all, quantity, steps_of

if TYPE_CHECKING:
    from wirelab.stats.estimate.bootstrap import Draws
    from wirelab.stats.estimate.sample import Floats


class FromLevel(EveryStep):
    """Along a factor, `upper` is more than `by` times `lower` from the level `published` on, at it and at each later
    level, and not at the one before it. Without `published` the part describes where that begins, and decides nothing.
    """

    form: Literal["from-level"]
    lower: Levels
    by: StrictFloat = Field(default=1, ge=1)
    published: str | None = None

    @field_validator("published")
    @classmethod
    def _level_along(cls, published: str | None, info: ValidationInfo[object]) -> str | None:
        known_along([] if published is None else [published], info)
        return published

    @property
    def decides(self) -> bool:
        return self.published is not None and super().decides

    def judge(self, context: Context) -> Judgement:
        levels = self.along.levels
        much = f"more than {self.by:g} times" if self.by > 1 else "above"
        begin = "" if self.published is None else f" from {self.published} on"
        upper, lower = context.words(self.upper), context.words(self.lower)
        text = f"{quantity(self, context)}: {upper} {much} {lower}{begin}, along {self.along.path}"
        steps = steps_of(self, context)
        if isinstance(steps, str):
            return context.missing("from-level", text, steps)
        place = _place(steps, self.by)
        listed = ", ".join(f"{written(number(step))} ({level})" for level, step in zip(levels, steps, strict=True))
        on = f"from {levels[int(place.point)]} on" if place.point < len(levels) else "not at the last level"
        known = [number(step).low for step in steps]
        sure = [level for level, low in zip(levels, known, strict=True) if low is not None and low > self.by]
        above = f"the interval lies above {self.by:g} at {', '.join(sure) or 'no level'}"
        counts = {step.n for step in steps}
        n = f", n = {counts.pop():,} at each" if len(counts) == 1 else ""
        why = f"by the estimates {upper} is {much} {lower} {on}; {above}; {upper} over {lower} is {listed}{n}"
        if self.published is None:
            return Judgement("from-level", text, INCONCLUSIVE, why, ours=number(place), decidable=False)
        begins = levels.index(self.published)
        needed = range(max(begins - 1, 0), len(levels))
        # Any of these levels may contradict.
        one = replace(context, contradict=1 - (1 - context.contradict) / len(needed))
        verdict = all_of(
            [
                within(one, steps[index], self.by, None, strict=True)
                if index >= begins
                else within(one, steps[index], None, self.by)
                for index in needed
            ]
        )
        judged = tuple(each for index in needed for each in decided_by(one, verdict, steps[index], levels[index]))
        return Judgement("from-level", text, verdict, why, self.published, number(place), judged=judged)


def _place(steps: list[Draws], by: float) -> Draws:
    """The first level, from 0, from which on every ratio is above `by`; the number of levels if there is none."""
    import numpy as np

    points = _first(np.array([[step.point] for step in steps]), by)
    values = _first(np.array([step.values for step in steps]), by)
    return replace(of_all(steps, float(points[0]), values), least=0.0)


def _first(ratios: Floats, by: float) -> Floats:
    """For each column of ratios, whose rows are the levels."""
    import numpy as np

    on = np.logical_and.accumulate(ratios[::-1] > by, axis=0)
    return np.asarray(len(ratios) - on.sum(axis=0), dtype=np.float64)
