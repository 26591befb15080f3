"""The place along a factor where a ratio crosses 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from wirelab.claims.judgement import INCONCLUSIVE, Context, Judgement, decided_by, number, within, written
from wirelab.claims.part import Levels, Place
from wirelab.claims.quantities import of_all, quantity, steps_of

if TYPE_CHECKING:
    from wirelab.stats.estimate.sample import Floats


class ChangePoint(Place):
    """Along a factor, `upper` over `lower` crosses 1 between the two published levels."""

    form: Literal["change-point"]
    lower: Levels

    def judge(self, context: Context) -> Judgement:
        import numpy as np

        first, last = self.published
        text = (
            f"{quantity(self, context)}: {context.words(self.upper)} over {context.words(self.lower)} crosses 1 "
            f"between {first} and {last} of {self.along.path}"
        )
        steps = steps_of(self, context)
        if isinstance(steps, str):
            return context.missing("change-point", text, steps)
        point = _crossing(np.array([[np.log(step.point)] for step in steps]))
        values = _crossing(np.log(np.array([step.values for step in steps])))
        place = of_all(steps, float(point[0]), values)
        if not np.isfinite(values).all():
            share = float(np.mean(np.isfinite(values)))
            why = f"it crosses once in {share:.0%} of the resamples only"
            return Judgement("change-point", text, INCONCLUSIVE, why, f"{first} to {last}")
        bounds = [float(self.along.levels.index(level)) for level in self.published]
        verdict = within(context, place, min(bounds), max(bounds))
        why = f"it crosses at position {written(number(place))} of the levels {', '.join(self.along.levels)}, from 0"
        judged = decided_by(context, verdict, place)
        return Judgement("change-point", text, verdict, why, f"{first} to {last}", number(place), judged=judged)


def _crossing(logs: Floats) -> Floats:
    """For each column: where it changes sign, in levels from 0, interpolated; NaN unless it does exactly once."""
    import numpy as np

    change = np.signbit(logs[1:]) != np.signbit(logs[:-1])
    first = np.argmax(change, axis=0)
    columns = np.arange(logs.shape[1])
    left, right = logs[first, columns], logs[first + 1, columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        place = first + left / (left - right)
    return np.asarray(np.where(change.sum(axis=0) == 1, place, np.nan), dtype=np.float64)
