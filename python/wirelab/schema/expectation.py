"""What an experiment expects of its scenarios, as `plan.json` has it (`docs/reference/plan.md`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from wirelab.schema.base import Border
from wirelab.schema.request import own_words

Sign = Literal["<", "<=", ">", ">="]
COMPLETED = "completed"
"""The statistic that is the share of exchanges that completed, of no metric."""


def as_named(level: object) -> str:
    """A level of a factor by the name that a bound has for it: `true`, `2 ms`, `40`, `PUT /api/items`."""
    if isinstance(level, bool):
        return str(level).lower()
    return own_words(json.dumps(level, ensure_ascii=False) if isinstance(level, dict | list) else str(level))


class Expectation(Border):
    """A bound that a statistic of a scenario is to keep."""

    statistic: str
    """`median`, `mean`, a percentile such as `p95`, or `completed`."""
    metric: str | None
    """Name of the metric; null of `completed`."""
    sign: Sign
    """How the statistic is to compare with the bound."""
    bound_in_unit: float
    """The bound, in `unit`."""
    written: str
    """The bound as written."""
    unit: str
    """`s`, `B`, `bit/s`, `J`, `share`, or empty for a number."""
    where: dict[str, str] = Field(default_factory=dict)
    """Level of each factor that a scenario needs for the bound to be about it; empty for all scenarios."""

    @property
    def subject(self) -> str:
        """What the bound is of, as written in an experiment file."""
        of = "" if self.metric is None else f" of {self.metric}"
        where = " and ".join(f"{path} = {level}" for path, level in self.where.items())
        return f"{self.statistic}{of}{f' where {where}' * bool(where)}"

    def is_about(self, points: Iterable[Mapping[str, object]]) -> bool:
        """Whether a scenario that stands for these points of the grid is meant."""
        return any(
            all(path in point and as_named(point[path]) == level for path, level in self.where.items())
            for point in points
        )

    def holds(self, value: float) -> bool:
        """Whether a value keeps the bound."""
        match self.sign:
            case "<":
                return value < self.bound_in_unit
            case "<=":
                return value <= self.bound_in_unit
            case ">":
                return value > self.bound_in_unit
            case ">=":
                return value >= self.bound_in_unit
