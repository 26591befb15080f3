"""The effect of each part of a claim at the points that a campaign ran, from the estimates of its scenarios. Judges
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wirelab.claims.judgement import Context, TimeOuts
from wirelab.claims.load import Claims
from wirelab.claims.part import Form, Levels
from wirelab.claims.samples import point_key
from wirelab.replicate.source import Source
from wirelab.schema.plan import Level
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.estimate.proportion import Share


def effects(forms: Sequence[Form], claims: Claims, source: Source, levels: Mapping[str, Level]) -> list[float | None]:
    """For each part the effect at the levels of a row of verdicts; None where it has none, or a scenario is missing."""
    choice, metrics = _meant(claims, levels)
    context = Context(_Estimated(source, choice, metrics), 0.5, 0.5, claims.file.factor)
    found = (form.judge(context).ours for form in forms)
    return [None if ours is None else ours.point for ours in found]


def _meant(claims: Claims, levels: Mapping[str, Level]) -> tuple[dict[str, Level], dict[str, str]]:
    """The choices of a row, and what its metrics mean: they change their meaning together, and one of them names it."""
    known = claims.file.metrics
    named = next((name for name in levels if name in known), None)
    meaning = 0 if named is None else known[named].index(str(levels[named]))
    metrics = {name: meant[min(meaning, len(meant) - 1)] for name, meant in known.items()}
    return {path: level for path, level in levels.items() if path != named}, metrics


@dataclass
class _Estimated:
    """Estimates at one combination of the choices, as points without intervals."""

    source: Source
    choice: Mapping[str, Level]
    metrics: Mapping[str, str]
    words: str = "estimated"
    touched: dict[str, int] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    time_outs: dict[str, TimeOuts] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)
    waited: dict[str, float] = field(default_factory=dict)
    disturbed: dict[str, tuple[int, int]] = field(default_factory=dict)
    without: str | None = None

    def draws(self, metric: str, statistic: str, levels: Levels, horizon_s: float | None = None) -> Draws | None:
        found = self.source.by_point.get(point_key({**self.choice, **levels}))
        measured = None if found is None else found["metrics"].get(self.metrics.get(metric, metric))
        if measured is None or horizon_s is not None:
            return None
        value = measured[statistic]["point"]  # type: ignore[literal-required]
        return None if value is None else Draws(value, np.array([value]), np.inf, 0)

    def beyond(self, metric: str, bound_s: float, levels: Levels) -> Share | None:  # noqa: ARG002 (needs every value)
        return None

    def unanswered(self, levels: Levels) -> list[tuple[int, int]] | None:  # noqa: ARG002 (needs every trial)
        return None

    def name_of(self, scenario: str) -> str:
        return scenario
