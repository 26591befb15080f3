"""Formatted numbers: as many digits as the interval supports, and a dash for a missing value."""

from __future__ import annotations

import math
from dataclasses import dataclass

from wirelab.schema.estimates import EXACT, EXACT_IN_PHASES, EstimateRecord, Outcomes

DASH = "–"
MOST_DIGITS = 5


@dataclass(frozen=True)
class Unit:
    """A unit for display: its symbol, and how many of it make one base unit."""

    symbol: str
    per_base: float = 1.0


MILLISECONDS = Unit("ms", 1e3)
MICROSECONDS = Unit("µs", 1e6)
BYTES = Unit("B")
KILOBITS = Unit("kbit/s", 1e-3)
PERCENT = Unit("%", 1e2)
COUNT = Unit("")
MILLIJOULES = Unit("mJ", 1e3)
JOULES = Unit("J")
UNITS = {"s": MILLISECONDS, "bytes": BYTES, "B": BYTES, "bit/s": KILOBITS, "1": COUNT, "": COUNT, "J": MILLIJOULES}


@dataclass(frozen=True)
class Estimate:
    """A point with its interval, as `estimates.json` has it. Without a point, `method` says why."""

    point: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    method: str

    @classmethod
    def of(cls, value: EstimateRecord | None) -> Estimate | None:
        """Of what there is not, None."""
        if value is None:
            return None
        return cls(value["point"], value["low"], value["high"], value["level"], value["n"], value["method"])


def decimals(point: float, low: float | None = None, high: float | None = None) -> int:
    """Decimal places that half the interval supports: one digit of it, two if it starts with 1 or 2.

    The point keeps two to five digits; three without an interval.

    Negative means that even tens or hundreds are uncertain.
    """
    magnitude = math.floor(math.log10(abs(point))) if point else 0
    half = (high - low) / 2 if low is not None and high is not None else 0.0
    if half <= 0 or not math.isfinite(half):
        return min(max(2 - magnitude, 0), 6)
    exponent = math.floor(math.log10(half))
    wanted = -exponent + (1 if half / 10**exponent < 3 else 0)
    return max(min(wanted, MOST_DIGITS - 1 - magnitude), 1 - magnitude)


def plain(value: float | None, places: int | None = None) -> str:
    """A number with these decimal places (default: three significant digits) and commas between thousands."""
    if value is None or not math.isfinite(value):
        return DASH
    places = decimals(value) if places is None else places
    text = f"{round(value, places):,.{max(places, 0)}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else text.lstrip("-")


def interval(estimate: Estimate | None, unit: Unit) -> str:
    """`62.0 [61.0, 63.0]` in the unit, which the column or the sentence names; `62.0 [61.0, ∞)` where
    time-outs, or too few trials, leave the upper end open; `62.034 [exact for this phase]` where nothing varies.
    """
    if estimate is None or estimate.point is None:
        return DASH
    point, low, high = (None if v is None else v * unit.per_base for v in (estimate.point, estimate.low, estimate.high))
    assert point is not None
    if estimate.method in {EXACT, EXACT_IN_PHASES}:
        return f"{plain(point, _most_places(point))} [{estimate.method}]"
    if low is None:
        return plain(point)
    if high is None:
        places = decimals(point)
        return f"{_bound(point, places)} [{_bound(low, places)}, ∞)"
    if unit is COUNT and all(value == int(value) for value in (point, low, high)):
        return f"{plain(point, 0)} [{plain(low, 0)}, {plain(high, 0)}]"
    places = decimals(point, low, high)
    return f"{_bound(point, places)} [{_bound(low, places)}, {_bound(high, places)}]"


def _most_places(point: float) -> int:
    """As many decimal places as are shown of the most exact number; of a whole one none."""
    if point == int(point):
        return 0
    return MOST_DIGITS - 1 - math.floor(math.log10(abs(point)))


def _bound(value: float, places: int) -> str:
    """An exact 0 is `0`. A bound near 0 keeps a digit, so that an interval without 0 does not seem to contain it."""
    if value == 0:
        return "0"
    if value and not round(value, places):
        places = -math.floor(math.log10(abs(value)))
    return plain(value, places)


def with_unit(estimate: Estimate | None, unit: Unit) -> str:
    """`62.0 ms [61.0, 63.0]`, for sentences."""
    if estimate is None or estimate.point is None:
        return DASH
    head, _, tail = interval(estimate, unit).partition(" ")
    return " ".join(part for part in (head, unit.symbol, tail) if part)


def exact(estimate: Estimate | None, unit: Unit) -> str:
    """`205.90 ms`, of what is the same in each trial."""
    if estimate is None or estimate.point is None:
        return DASH
    point = estimate.point * unit.per_base
    return f"{plain(point, _most_places(point))} {unit.symbol}".rstrip()


def p_value(value: float | None) -> str:
    """A p value; tiny ones as an upper bound."""
    if value is None:
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def ended(counts: Outcomes) -> str:
    """How many exchanges completed, of those that were attempted: `319/320`; of messages that nothing answers how many
    were sent and arrived: `320/320 sent, 319 arrived by the end`; and if every trial failed, how many they recorded:
    `0/0, 20 in failed trials`.
    """
    if not counts["exchanges"] and (lost := counts["exchanges_of_failed_trials"]):
        return f"{share(0, 0)}, {lost:,} in failed trials"
    if not counts["sent"]:
        return share(counts["completed"], counts["exchanges"])
    arrived = "" if counts["arrived"] is None else f", {counts['arrived']:,} arrived by the end"
    return f"{share(counts['sent'], counts['exchanges'])} sent{arrived}"


def share(part: float, whole: float) -> str:
    """`319/320`."""
    return f"{part:,.0f}/{whole:,.0f}"
