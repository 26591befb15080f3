"""Intervals whose ends look alike at three digits, as under the virtual clock: they are printed with three."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from decimal import Decimal

from wirelab.report.numbers import COUNT, Estimate, interval, plain

FEWEST, MOST = 3, 5
ONE = 1.0
"""No number is rounded to it: a ratio of 1.0006 is not 1."""
_NUMBER = r"[-−]?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_INTERVAL = re.compile(rf"(?<![\w.])({_NUMBER}) \[({_NUMBER}), ({_NUMBER})\]")


def short_interval(estimate: Estimate | None) -> str:
    """A ratio with its interval: `1.99 [1.99, 1.99]`; if its ends differ at three digits as any other."""
    if estimate is None or estimate.point is None or estimate.low is None or estimate.high is None:
        return interval(estimate, COUNT)
    values = estimate.point, estimate.low, estimate.high
    if all(value == int(value) for value in values):
        return interval(estimate, COUNT)
    digits = _digits(values, {ONE})
    return interval(estimate, COUNT) if digits is None else _shown(values, digits)


def short(text: str) -> str:
    """A sentence with three digits in each interval that needs no more, unless a number would become another one that
    the sentence compares it with.
    """
    compared = {ONE, *(float(each.replace("−", "-")) for each in re.findall(_NUMBER, _INTERVAL.sub("", text)))}

    def shorter(found: re.Match[str]) -> str:
        written = [each.replace("−", "-") for each in found.groups()]
        if max(len(Decimal(each).as_tuple().digits) for each in written) <= FEWEST:
            return found[0]
        values = [float(each) for each in written]
        digits = _digits(values, compared)
        while digits is not None and digits < MOST and any(_between(each, digits) for each in written):
            digits += 1
        return found[0] if digits is None else _shown(values, digits)

    return _INTERVAL.sub(shorter, text)


def _digits(values: Collection[float], compared: Collection[float]) -> int | None:
    """How many digits are enough; None if three show different ends."""
    if len({_rounded(each, FEWEST) for each in values}) > 1:
        return None
    for digits in range(FEWEST, MOST):
        if not any(_rounded(each, digits) in compared and each not in compared for each in values):
            return digits
    return MOST


def _between(written: str, digits: int) -> bool:
    """Whether a number that is rounded already lies in the middle of two shorter ones, so that neither is known to be
    the nearer.
    """
    kept = Decimal(written).as_tuple().digits
    return len(kept) == digits + 1 and kept[-1] == 5


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _places(value: float, digits: int) -> int:
    return digits - 1 - math.floor(math.log10(abs(value))) if value else digits - 1


def _shown(values: Collection[float], digits: int) -> str:
    point, low, high = (plain(each, _places(each, digits)) for each in values)
    return f"{point} [{low}, {high}]"
