"""Intervals with three digits where more say nothing: their ends differ at three, or look alike as under the virtual
clock.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from decimal import Decimal

from wirelab.report.numbers import COUNT, Estimate, interval, plain

FEWEST, MOST = 3, 5
ONE = 1.0
NEAR = 0.2
"""Rounding may change the distance of a ratio from 1 by this share of it: 1.0051 is neither 1 nor 1.01."""
_NUMBER = r"[-−]?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_INTERVAL = re.compile(rf"(?<![\w.])({_NUMBER}) \[({_NUMBER}), ({_NUMBER})\]")

_POWER = re.compile(r"(?<![\w.])\d(?:\.\d+)?e\+0\d(?!\d)")
"""A number from 1,000 on with few digits, as `2.72e+03` has it."""


def short_interval(estimate: Estimate | None) -> str:
    """A ratio with its interval: `1.99 [1.99, 1.99]`. With more digits only if three would bring it nearer to 1."""
    if estimate is None or estimate.point is None or estimate.low is None or estimate.high is None:
        return interval(estimate, COUNT)
    values = estimate.point, estimate.low, estimate.high
    if all(value == int(value) for value in values):
        return interval(estimate, COUNT)
    text = interval(estimate, COUNT)
    differ = len({_rounded(each, FEWEST) for each in values}) > 1
    if differ and _most_digits(text) <= FEWEST and all(map(_keeps_its_distance, values, _numbers(text))):
        return text
    return _shown(values, _enough(values, set()))


def short(text: str) -> str:
    """A sentence with three digits in each interval that needs no more, unless a number would become another one that
    the sentence compares it with.
    """
    compared = {*(float(each.replace("−", "-")) for each in re.findall(_NUMBER, _INTERVAL.sub("", text)))}

    def shorter(found: re.Match[str]) -> str:
        written = [each.replace("−", "-") for each in found.groups()]
        if _most_digits(found[0]) <= FEWEST:
            return found[0]
        values = [float(each) for each in written]
        if len({_rounded(each, FEWEST) for each in values}) > 1:
            return found[0]
        digits = _enough(values, compared)
        while digits < MOST and any(_between(each, digits) for each in written):
            digits += 1
        return _shown(values, digits)

    return _POWER.sub(lambda found: f"{float(found[0]):,.0f}", _INTERVAL.sub(shorter, text))


def _enough(values: Collection[float], compared: Collection[float]) -> int:
    """The fewest digits with which no value is rounded to one that it is compared with, or much nearer to 1 or much
    farther from it.
    """
    for digits in range(FEWEST, MOST):
        rounded = [_rounded(each, digits) for each in values]
        if any(short in compared and each not in compared for each, short in zip(values, rounded, strict=True)):
            continue
        if all(map(_keeps_its_distance, values, rounded)):
            return digits
    return MOST


def _keeps_its_distance(value: float, rounded: float) -> bool:
    return abs(rounded - value) <= NEAR * abs(value - ONE)


def _numbers(text: str) -> list[float]:
    return [float(each.replace("−", "-")) for each in re.findall(_NUMBER, text)]


def _most_digits(text: str) -> int:
    """Of the numbers of an interval, the most digits of one that count."""
    written = re.findall(_NUMBER, text)
    return max(len(Decimal(each.replace("−", "-")).as_tuple().digits) for each in written)


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
