"""The statistic that protocols are ranked by: the median, or a percentile such as `p95`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wirelab.units import UnitError

MEDIAN = "median"
_PERCENTILE = re.compile(r"p([1-9][0-9]?)")


def read_statistic(value: object) -> str:
    """`median`, or a percentile from `p1` to `p99`; `p50` is the median."""
    if value == MEDIAN:
        return MEDIAN
    match = _PERCENTILE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise UnitError("is not a statistic to rank by", hint='write "median", or a percentile such as "p95"')
    return MEDIAN if match[1] == "50" else match[0]


def quantile_of(statistic: str) -> float:
    """0.95 of `p95`."""
    return 0.5 if statistic == MEDIAN else int(statistic[1:]) / 100


def key_of(statistic: str) -> str:
    """Its key among a metric's estimates: `median`, or 0.95 of `p95`."""
    return MEDIAN if statistic == MEDIAN else str(quantile_of(statistic))


def words_of(statistic: str) -> str:
    """`median`, or `95th percentile`."""
    if statistic == MEDIAN:
        return MEDIAN
    number = int(statistic[1:])
    ending = "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending} percentile"


def least_values(q: float) -> int:
    """The number of values that a quantile needs: five in its tail, and ten for the outermost (100 for p95,
    1,000 for p99).
    """
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
