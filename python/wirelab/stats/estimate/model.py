"""The shapes that statistics come in: Estimate and Comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass

from wirelab.schema.estimates import EstimateRecord, Family

LEVEL = 0.95
"""Confidence level of every interval unless the estimate says otherwise."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval.

    `point` is None where the number lies among values that are only known to be above the time-out, or cannot be
    formed. `low` and `high` are None where no interval can be given; `method` then says why.
    """

    point: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    method: str

    def __post_init__(self) -> None:
        for value in (self.point, self.low, self.high):
            if value is not None and not math.isfinite(value):
                raise ValueError(f"an estimate holds finite numbers or None, not {value}")

    def record(self) -> EstimateRecord:
        """As `estimates.json` has it."""
        return {
            "point": self.point, "low": self.low, "high": self.high, "level": self.level, "n": self.n,
            "method": self.method,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """Scenario `a` against scenario `b` in one metric; `p_adjusted` is computed for the whole family together."""

    metric: str
    a: str
    b: str
    ratio_of_means: Estimate
    ratio_of_medians: Estimate
    shift: Estimate
    cliffs_delta: Estimate
    p: float
    p_adjusted: float
    family: Family
    ratio_of_percentiles: Estimate | None = None
    """If the campaign ranks by a percentile."""


def finite(value: float) -> float | None:
    """None for what is not a finite number."""
    return float(value) if math.isfinite(value) else None
