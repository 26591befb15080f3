"""Quantities as people write them, to numbers in one base unit, and back.

Durations become whole nanoseconds, sizes whole bytes, rates whole bit/s, shares fractions, frequencies Hz, signals dBm,
electrical quantities V, A, W, J and mAh.
A number without a unit is refused: whoever reads the file later must not have to guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

_DURATIONS = {
    "ns": Fraction(1),
    "us": Fraction(10**3),
    "µs": Fraction(10**3),
    "ms": Fraction(10**6),
    "s": Fraction(10**9),
    "min": Fraction(60 * 10**9),
    "h": Fraction(3600 * 10**9),
}
_SIZES = {
    "B": Fraction(1),
    "kB": Fraction(10**3),
    "MB": Fraction(10**6),
    "GB": Fraction(10**9),
    "KiB": Fraction(2**10),
    "MiB": Fraction(2**20),
    "GiB": Fraction(2**30),
}
SIZE_UNITS = tuple(_SIZES)
_RATES = {"bit/s": Fraction(1), "kbit/s": Fraction(10**3), "Mbit/s": Fraction(10**6), "Gbit/s": Fraction(10**9)}
_SHARES = {"%": Fraction(1, 100)}
_PACKETS = {"packets": Fraction(1), "packet": Fraction(1)}
_LEVELS = {"dBm": Fraction(1)}
_VOLTAGES = {"V": Fraction(1), "mV": Fraction(1, 10**3)}
_CURRENTS = {"A": Fraction(1), "mA": Fraction(1, 10**3), "uA": Fraction(1, 10**6), "nA": Fraction(1, 10**9)}
_POWERS = {"W": Fraction(1), "mW": Fraction(1, 10**3), "uW": Fraction(1, 10**6), "nW": Fraction(1, 10**9)}
_ENERGIES = {"kJ": Fraction(10**3), "J": Fraction(1), "mJ": Fraction(1, 10**3), "uJ": Fraction(1, 10**6)}
_CHARGES = {"Ah": Fraction(10**3), "mAh": Fraction(1)}
_FREQUENCIES = {"/s": Fraction(1), "/min": Fraction(1, 60), "/h": Fraction(1, 3600), "Hz": Fraction(1)}

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
    return round(_quantity(value, "a duration", _DURATIONS, example))


def offset_ns(value: object) -> int:
    """`"-1 ms"` as nanoseconds, rounded to a whole one; it may be negative."""
    return round(_quantity(value, "a duration", _DURATIONS, "ms", signed=True))


def size_bytes(value: object) -> int:
    """`"3.5 kB"` as bytes; a part of a byte is refused."""
    size = _quantity(value, "a size", _SIZES, "B")
    if size.denominator != 1:
        raise UnitError(f"is not a whole number of bytes: {float(size):g} B")
    return int(size)


def packet_count(value: object) -> int:
    """`"100 packets"` as 100."""
    count = _quantity(value, "a number of packets", _PACKETS, "packets")
    if count.denominator != 1:
        raise UnitError(f"is not a whole number of packets: {float(count):g}")
    return int(count)


def size_or_packets(value: object) -> tuple[int | None, int | None]:
    """`"64 kB"` as bytes, or `"100 packets"` as packets; the other is none."""
    _quantity(value, "a size or a number of packets", {**_SIZES, **_PACKETS}, "B")
    if isinstance(value, str) and value.rstrip().endswith(tuple(_PACKETS)):
        return None, packet_count(value)
    return size_bytes(value), None


def rate_bps(value: object) -> int:
    """`"250 kbit/s"` as bits per second; a part of a bit/s is refused."""
    rate = _quantity(value, "a rate", _RATES, "kbit/s")
    if rate.denominator != 1:
        raise UnitError(f"is not a whole number of bit/s: {float(rate):g} bit/s")
    return int(rate)


def share(value: object) -> float:
    """`"10 %"` as the fraction 0.1."""
    fraction = _quantity(value, "a share", _SHARES, "%")
    if fraction > 1:
        raise UnitError("is more than 100 %")
    return float(fraction)


def frequency_hz(value: object) -> float:
    """`"10 /s"` or `"6 /min"` as events per second."""
    return float(_quantity(value, "a frequency", _FREQUENCIES, "/s"))


def level_dbm(value: object) -> float:
    """`"-85 dBm"` as -85."""
    level = float(_quantity(value, "a signal level", _LEVELS, "dBm", signed=True))
    if not -300 <= level <= 0:
        hint = f'did you mean "-{level:g} dBm"?' if 0 < level <= 300 else 'such as "-85 dBm"'
        raise UnitError("is no signal that a radio receives", hint)
    return level


def voltage_v(value: object) -> float:
    """`"3.7 V"` as volts."""
    return float(_quantity(value, "a voltage", _VOLTAGES, "V"))


def current_a(value: object) -> float:
    """`"6.4 mA"` as amperes."""
    return float(_quantity(value, "a current", _CURRENTS, "mA"))


def power_w(value: object) -> float:
    """`"543 mW"` as watts."""
    return float(_quantity(value, "a power", _POWERS, "mW"))


def energy_j(value: object) -> float:
    """`"105 mJ"` as joules."""
    return float(_quantity(value, "an energy", _ENERGIES, "mJ"))


def charge_mah(value: object) -> float:
    """`"2400 mAh"` as milliampere-hours."""
    return float(_quantity(value, "a charge", _CHARGES, "mAh"))


def format_duration(nanoseconds: float) -> str:
    """A duration for people, in the largest unit that leaves at least 1: `20 ms`, `1.5 s`, `12 min`."""
    return _in_largest(nanoseconds, _DURATIONS, ("h", "min", "s", "ms", "us", "ns"))


def format_size(size: float) -> str:
    """A size for people, in powers of 1000: `30 B`, `3.5 kB`."""
    return _in_largest(size, _SIZES, ("GB", "MB", "kB", "B"))


def format_rate(bits_per_second: float) -> str:
    """A rate for people: `250 kbit/s`."""
    return _in_largest(bits_per_second, _RATES, ("Gbit/s", "Mbit/s", "kbit/s", "bit/s"))


def format_energy(joules: float) -> str:
    """An energy for people: `105 mJ`."""
    return _in_largest(joules, _ENERGIES, ("kJ", "J", "mJ", "uJ"))


def format_power(watts: float) -> str:
    """A power for people: `543 mW`."""
    return _in_largest(watts, _POWERS, ("W", "mW", "uW", "nW"))


def format_share(fraction: float) -> str:
    """A fraction for people: `6.45 %`."""
    return f"{fraction * 100:.3g} %"


def with_bounds(typical: str, low: str, high: str) -> str:
    """`2 mJ [1 mJ, 4 mJ]`, or the typical value alone: bounds that read the same are no range."""
    return typical if low == high else f"{typical} [{low}, {high}]"


def _in_largest(value: float, scales: Mapping[str, Fraction], units: Sequence[str]) -> str:
    """In the first of these units that leaves at least 1 when it is rounded, else in the last."""
    place = next((place for place, unit in enumerate(units) if abs(value) >= scales[unit]), len(units) - 1)
    number = float(f"{value / float(scales[units[place]]):.3g}")
    larger = scales[units[max(place - 1, 0)]] / scales[units[place]]
    if place and abs(number) >= larger:
        number, place = number / float(larger), place - 1
    return f"{number:.3g} {units[place]}"


def _quantity(
    value: object, what: str, units: Mapping[str, Fraction], example: str, *, signed: bool = False
) -> Fraction:
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
    quantity = Fraction(number) * units[unit]
    if quantity < 0 and not signed:
        raise UnitError("is negative")
    if abs(quantity) > _MOST:
        raise UnitError("is too much")
    return quantity


def _with_unit(number: str, units: Mapping[str, Fraction], example: str) -> str:
    """What to write for a number without a unit, of which a share may have been meant as a fraction."""
    known = ", ".join(units)
    if units is _SHARES and 0 < float(number) <= 1:
        return f'write "{100 * float(number):.6g} {example}" or "{number} {example}"'
    return f'write "{number} {example}" ({known})'
