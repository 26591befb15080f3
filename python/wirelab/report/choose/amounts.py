"""Times, shares, sums and factors of a choice as text."""

from __future__ import annotations

from collections.abc import Callable

from wirelab.report.numbers import DASH, plain
from wirelab.schema.bounds import Bounds
from wirelab.schema.estimates import EstimateRecord
from wirelab.units import format_duration, format_share, with_bounds

NO_MATTER = 1.05
"""A smaller factor does not matter."""
SMALL = f"less than {format_share(NO_MATTER - 1)}"

DAYS = 365.25
"""Of a year."""


def seconds(value: float) -> str:
    """`1.2 s`."""
    return format_duration(value * 1e9)


def share(value: float) -> str:
    """`99.5 %`. What is less than all does not read as all."""
    text = format_share(value)
    return "> 99.9 %" if value < 1 and text == format_share(1) else text


def money(value: float | None, currency: str) -> str:
    """`1.20 EUR`; three digits of what is less than a tenth."""
    return DASH if value is None else f"{plain(value, 2 if value >= 0.1 else None)} {currency}"


def years(life: Bounds) -> str:
    """`7.20 [5.10, 9.80]`, without the word."""
    least, most = sorted((life["low"], life["high"]))
    return with_bounds(plain(life["typical"]), plain(least), plain(most))


def lasts(life: Bounds) -> str:
    """`7.20 [5.10, 9.80] years`, or days of what is less than one."""
    if life["typical"] >= 1:
        return f"{years(life)} years"
    low, typical, high = (DAYS * life[bound] for bound in ("low", "typical", "high"))
    return f"{years({'low': low, 'typical': typical, 'high': high})} days"


def factor(ratio: float) -> float:
    """A ratio or its inverse: the larger one."""
    return max(ratio, 1 / ratio) if ratio > 0 else float("inf")


def times(what: str, ratio: float) -> str:
    """`energy / 4.2`."""
    if factor(ratio) < NO_MATTER:
        return SMALL
    return f"{what} × {digits(ratio)}" if ratio > 1 else f"{what} / {digits(factor(ratio))}"


def digits(value: float) -> str:
    """Three digits, without zeros at the end."""
    return f"{value:.3g}" if value < 1000 else plain(value)


def point(value: EstimateRecord | None, words: Callable[[float], str]) -> str:
    """A figure in words; a dash if it is not known."""
    return DASH if value is None or value["point"] is None else words(value["point"])
