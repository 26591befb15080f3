"""The statistic that protocols are ranked by: the median, the mean, or a percentile such as `p95`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wirelab.units import UnitError

MEDIAN = "median"
MEAN = "mean"
PATTERN = "^(median|mean|p[1-9][0-9]?)$"
_PERCENTILE = re.compile(r"p([1-9][0-9]?)")


def read_statistic(value: object) -> str:
    """`median`, `mean`, or a percentile from `p1` to `p99`; `p50` is the median."""
    if isinstance(value, str) and value in {MEDIAN, MEAN}:
        return value
    match = _PERCENTILE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise UnitError(
            "is not a statistic to rank by", hint='write "median", "mean", or a percentile from "p1" to "p99"'
        )
    return MEDIAN if match[1] == "50" else match[0]


def quantile_of(statistic: str) -> float | None:
    """0.95 of `p95`; None of the mean."""
    if statistic == MEAN:
        return None
    return 0.5 if statistic == MEDIAN else int(statistic[1:]) / 100


def key_of(statistic: str) -> str:
    """Its key among a metric's estimates: `median`, `mean`, or 0.95 of `p95`."""
    return statistic if statistic in {MEDIAN, MEAN} else str(quantile_of(statistic))


def words_of(statistic: str) -> str:
    """`median`, `mean`, or `95th percentile`."""
    if statistic in {MEDIAN, MEAN}:
        return statistic
    number = int(statistic[1:])
    ending = "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending} percentile"


def least_values(q: float | None) -> int:
    """The number of values that a quantile needs: five in its tail, and ten for the outermost (100 for p95,
    1,000 for p99). None is the mean.
    """
    if q is None:
        return 1
    tail = min(q, 1 - q)
    if tail < 0.05:
        return 1000
    return 100 if tail < 0.25 else 1


def too_few(statistic: str, values: Iterable[int]) -> str | None:
    """What a statistic lacks in the scenario with the fewest of these numbers of values; None if it has enough."""
    needs = least_values(quantile_of(statistic))
    fewest = min(values, default=needs)
    if fewest >= needs:
        return None
    return f"the {statistic} needs {needs:,} values of each scenario, and one has at most {fewest:,}"
