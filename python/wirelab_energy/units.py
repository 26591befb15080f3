"""Quantities as people write them, to numbers in one base unit, and back.

Durations become whole nanoseconds, sizes whole bytes, rates whole bit/s, electrical quantities V, A, W, J and mAh.
A number without a unit is refused: a later reader of the file must not have to guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

DURATIONS = {
    "ns": Fraction(1),
    "us": Fraction(10**3),
    "µs": Fraction(10**3),
    "ms": Fraction(10**6),
    "s": Fraction(10**9),
    "min": Fraction(60 * 10**9),
    "h": Fraction(3600 * 10**9),
}
SIZES = {
    "B": Fraction(1),
    "kB": Fraction(10**3),
    "MB": Fraction(10**6),
    "GB": Fraction(10**9),
    "KiB": Fraction(2**10),
    "MiB": Fraction(2**20),
    "GiB": Fraction(2**30),
}
RATES = {"bit/s": Fraction(1), "kbit/s": Fraction(10**3), "Mbit/s": Fraction(10**6), "Gbit/s": Fraction(10**9)}
VOLTAGES = {"V": Fraction(1), "mV": Fraction(1, 10**3)}
_CURRENTS = {"A": Fraction(1), "mA": Fraction(1, 10**3), "uA": Fraction(1, 10**6), "nA": Fraction(1, 10**9)}
_POWERS = {"W": Fraction(1), "mW": Fraction(1, 10**3), "uW": Fraction(1, 10**6), "nW": Fraction(1, 10**9)}
_ENERGIES = {"kJ": Fraction(10**3), "J": Fraction(1), "mJ": Fraction(1, 10**3), "uJ": Fraction(1, 10**6)}
CHARGES = {"Ah": Fraction(10**3), "mAh": Fraction(1)}

_AMBIGUOUS = {
    "KB": "write 'kB' for 1000 bytes or 'KiB' for 1024",
    "K": "write 'kB' for 1000 bytes or 'KiB' for 1024",
    "k": "write 'kB' for 1000 bytes or 'KiB' for 1024",
    "kb": "write 'kB' for 1000 bytes or 'KiB' for 1024",
    "b": "write 'B' for bytes",
    "m": "write 'ms' or 'min'",
    "kbps": "write 'kbit/s'",
    "Mbps": "write 'Mbit/s'",
    "Gbps": "write 'Gbit/s'",
    "bps": "write 'bit/s'",
    "sec": "write 's'",
    "percent": "write '%'",
}
_MOST = 2**63 - 1
"""What the data plane and a column of 64 bits hold, in base units."""
_LONGEST = 100
"""Digits of a quantity; Python refuses to read more than some thousand."""

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(.*)", re.DOTALL)


class UnitError(ValueError):
    """A quantity that cannot be read, with what to write instead."""

    def __init__(self, what: str, hint: str | None = None) -> None:
        super().__init__(what)
        self.hint = hint


def duration_ns(value: object, example: str = "ms") -> int:
    """`"20 ms"` as nanoseconds, rounded to a whole one; `example` is the unit that a hint writes."""
    return round(quantity(value, "a duration", DURATIONS, example))


def size_bytes(value: object) -> int:
    """`"3.5 kB"` as bytes; a part of a byte is refused."""
    size = quantity(value, "a size", SIZES, "B")
    if size.denominator != 1:
        raise UnitError(f"is not a whole number of bytes: {float(size):g} B")
    return int(size)


def rate_bps(value: object) -> int:
    """`"250 kbit/s"` as bits per second; a part of a bit/s is refused."""
    rate = quantity(value, "a rate", RATES, "kbit/s")
    if rate.denominator != 1:
        raise UnitError(f"is not a whole number of bit/s: {float(rate):g} bit/s")
    return int(rate)


def voltage_v(value: object) -> float:
    """`"3.7 V"` as volts."""
    return float(quantity(value, "a voltage", VOLTAGES, "V"))


def current_a(value: object, example: str = "mA") -> float:
    """`"6.4 mA"` as amperes; `example` is the unit that a hint writes."""
    return float(quantity(value, "a current", _CURRENTS, example))


def power_w(value: object) -> float:
    """`"543 mW"` as watts."""
    return float(quantity(value, "a power", _POWERS, "mW"))


def energy_j(value: object) -> float:
    """`"105 mJ"` as joules."""
    return float(quantity(value, "an energy", _ENERGIES, "mJ"))


def charge_mah(value: object) -> float:
    """`"2400 mAh"` as milliampere-hours."""
    return float(quantity(value, "a charge", CHARGES, "mAh"))


def format_duration(nanoseconds: float) -> str:
    """A duration for people, in the largest unit that leaves at least 1: `20 ms`, `1.5 s`, `12 min`."""
    return in_largest(nanoseconds, DURATIONS, ("h", "min", "s", "ms", "us", "ns"))


def format_size(size: float) -> str:
    """A size for people, in powers of 1000: `30 B`, `3.5 kB`."""
    return in_largest(size, SIZES, ("GB", "MB", "kB", "B"))


def format_energy(joules: float) -> str:
    """An energy for people: `105 mJ`."""
    return in_largest(joules, _ENERGIES, ("kJ", "J", "mJ", "uJ"))


def format_power(watts: float) -> str:
    """A power for people: `543 mW`."""
    return in_largest(watts, _POWERS, ("W", "mW", "uW", "nW"))


def with_bounds(typical: str, low: str, high: str) -> str:
    """`2 mJ [1 mJ, 4 mJ]`, or the typical value alone: bounds that read the same are no range."""
    return typical if low == high else f"{typical} [{low}, {high}]"


def in_largest(value: float, scales: Mapping[str, Fraction], units: Sequence[str]) -> str:
    """In the first of these units that leaves at least 1 when it is rounded, else in the last."""
    place = next((place for place, unit in enumerate(units) if abs(value) >= scales[unit]), len(units) - 1)
    number = float(f"{value / float(scales[units[place]]):.3g}")
    larger = scales[units[max(place - 1, 0)]] / scales[units[place]]
    if place and abs(number) >= larger:
        number, place = number / float(larger), place - 1
    return f"{number:.3g} {units[place]}"


def quantity(
    value: object, what: str, units: Mapping[str, Fraction], example: str, *, signed: bool = False
) -> Fraction:
    """`value` in the base of these `units`; `what` it should be, and the unit of an `example`, are for errors."""
    known = ", ".join(units)
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise UnitError("has no unit", hint=_with_unit(str(value), units, example))
    match = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise UnitError(f"is not {what}", hint=f'write a number and a unit, such as "10 {example}" ({known})')
    number, unit = match[1], match[2]
    if len(number) > _LONGEST:
        raise UnitError("has too many digits")
    if not unit:
        raise UnitError("has no unit", hint=_with_unit(number, units, example))
    if unit not in units:
        raise UnitError(f"unknown unit '{unit}' of {what}", hint=_AMBIGUOUS.get(unit, f"known: {known}"))
    amount = Fraction(number) * units[unit]
    if amount < 0 and not signed:
        raise UnitError("is negative", hint=f'did you mean "{number[1:]} {unit}"?')
    if abs(amount) > _MOST:
        raise UnitError("is too much")
    return amount


def _with_unit(number: str, units: Mapping[str, Fraction], example: str) -> str:
    """What to write for a number without a unit, of which a share may have been meant as a fraction."""
    known = ", ".join(units)
    if "%" in units and 0 < float(number) <= 1:
        return f'write "{100 * float(number):.6g} {example}" or "{number} {example}"'
    return f'write "{number} {example}" ({known})'
