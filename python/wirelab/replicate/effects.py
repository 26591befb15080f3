"""Each part of a claim at the points that a campaign ran, from the estimates of its scenarios: its effect, and how many
exchanges and values it rests on. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wirelab.claims.forms.bend import Bend
from wirelab.claims.forms.causal_contrast import CausalContrast
from wirelab.claims.forms.count import Count
from wirelab.claims.forms.equivalence import Equivalence
from wirelab.claims.forms.interaction import Interaction
from wirelab.claims.forms.order import Order
from wirelab.claims.forms.quotient import Quotient
from wirelab.claims.forms.ratio import Ratio
from wirelab.claims.forms.trend import Trend
from wirelab.claims.judgement import Context
from wirelab.claims.load import Claims
from wirelab.claims.part import OF_COMPLETED, Form, Levels
from wirelab.claims.samples import point_key
from wirelab.claims.source import Noted
from wirelab.replicate.source import Source
from wirelab.schema.estimates import AnalysedScenario, EstimateRecord
from wirelab.schema.plan import Level
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.estimate.proportion import Share

OF_ESTIMATES = (Bend, CausalContrast, Count, Equivalence, Interaction, Order, Quotient, Ratio, Trend)
"""Forms whose effect follows from estimates; what others find depends on intervals."""


@dataclass(frozen=True)
class PartAt:
    """A part at one point. `exchanges` are those that its scenarios attempted. `values` are how many of them each
    scenario has a value of, or attempted if the part is judged by outcomes. A part is `whole` if all were run.
    """

    effect: float | None
    exchanges: int
    whole: bool
    values: Mapping[str, int]


def parts_at(forms: Sequence[Form], claims: Claims, source: Source, levels: Mapping[str, Level]) -> list[PartAt]:
    """Each part at the levels of a row of verdicts. One with a horizon has no effect, since no estimate has it."""
    choice, metrics = _meant(claims, levels)
    return [_part_at(form, _Estimated(source, choice, metrics), claims) for form in forms]


def _part_at(form: Form, at: _Estimated, claims: Claims) -> PartAt:
    ours = form.judge(Context(at, 0.5, 0.5, claims.file.factor)).ours
    effect = ours.point if ours is not None and at.known and isinstance(form, OF_ESTIMATES) else None
    return PartAt(effect, sum(at.touched.values()), bool(at.touched) and not at.absent, at.values)


def _meant(claims: Claims, levels: Mapping[str, Level]) -> tuple[dict[str, Level], dict[str, str]]:
    """The choices of a row, and what its metrics mean: they change their meaning together, and one of them names it."""
    known = claims.file.metrics
    named = next((name for name in levels if name in known), None)
    meaning = 0 if named is None else known[named].index(str(levels[named]))
    metrics = {name: meant[min(meaning, len(meant) - 1)] for name, meant in known.items()}
    return {path: level for path, level in levels.items() if path != named}, metrics


@dataclass
class _Estimated(Noted):
    """Estimates at one combination of the choices, as points without intervals. `known` is False after a statistic that
    no estimate has: its scenarios are counted, and it says nothing.
    """

    source: Source
    choice: Mapping[str, Level]
    metrics: Mapping[str, str]
    words: str = field(default="estimated", kw_only=True)
    values: dict[str, int] = field(default_factory=dict, kw_only=True)
    known: bool = field(default=True, kw_only=True)

    def draws(self, metric: str, statistic: str, levels: Levels, horizon_s: float | None = None) -> Draws | None:
        found = self._scenario(levels)
        measured = None if found is None else found["metrics"].get(self.metrics.get(metric, metric))
        if found is None or measured is None:
            return None
        if statistic == OF_COMPLETED or horizon_s is not None:
            self.known = False
            return Draws(1.0, np.array([1.0]), np.inf, 0)
        estimate: EstimateRecord = measured[statistic]  # type: ignore[literal-required]
        self.values[found["key"]] = estimate["n"]
        value = estimate["point"]
        return None if value is None else Draws(value, np.array([value]), np.inf, 0)

    def beyond(self, metric: str, bound_s: float, levels: Levels) -> Share | None:  # noqa: ARG002 (needs every value)
        self._scenario(levels)
        return None

    def unanswered(self, levels: Levels) -> list[tuple[int, int]] | None:
        self._scenario(levels)
        return None

    def name_of(self, scenario: str) -> str:
        return scenario

    def _scenario(self, levels: Levels) -> AnalysedScenario | None:
        found = self.source.by_point.get(point_key({**self.choice, **levels}))
        if found is None:
            self.absent[" ".join(levels.values())] = "not run"
        else:
            attempted = found["denominators"]["exchanges"]
            self.touched[found["key"]] = attempted
            self.values.setdefault(found["key"], attempted)
        return found
