"""Units of links, workloads and shares, next to those of `wirelab_energy`: written ones to numbers, and back.

Offsets become whole nanoseconds, shares fractions, frequencies Hz, signals dBm, numbers of packets whole ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from wirelab_energy.units import (
    CHARGES,
    DURATIONS,
    RATES,
    SIZES,
    VOLTAGES,
    UnitError,
    charge_mah,
    current_a,
    duration_ns,
    energy_j,
    format_duration,
    format_energy,
    format_power,
    format_size,
    in_largest,
    power_w,
    quantity,
    rate_bps,
    size_bytes,
    voltage_v,
    with_bounds,
)  # fmt: skip

__all__ = [
    "AT_MOST", "QUANTITIES", "SIZE_UNITS", "UnitError", "charge_mah", "current_a", "duration_ns", "energy_j",
    "format_duration", "format_energy", "format_power", "format_rate", "format_share", "format_size", "frequency_hz",
    "level_dbm", "offset_ns", "packet_count", "power_w", "rate_bps", "share", "size_bytes", "size_or_packets",
    "voltage_v", "with_bounds",
]  # fmt: skip

AT_MOST = "at most 100 %"
"""Hint of a share that is more."""
_SHARES = {"%": Fraction(1, 100), "ppm": Fraction(1, 10**6)}
_PACKETS = {"packets": Fraction(1), "packet": Fraction(1)}
_LEVELS = {"dBm": Fraction(1)}
_FREQUENCIES = {"/s": Fraction(1), "/min": Fraction(1, 60), "/h": Fraction(1, 3600), "Hz": Fraction(1)}
SIZE_UNITS = tuple(SIZES)
QUANTITIES: Mapping[str, tuple[str, ...]] = {
    "duration": tuple(DURATIONS), "size": SIZE_UNITS, "rate": tuple(RATES), "share": tuple(_SHARES),
    "frequency": tuple(_FREQUENCIES), "packets": tuple(_PACKETS), "signal level": tuple(_LEVELS),
    "voltage": tuple(VOLTAGES), "charge": tuple(CHARGES),
}  # fmt: skip
"""Quantities of an experiment file, each with its units."""


def offset_ns(value: object) -> int:
    """`"-1 ms"` as nanoseconds, rounded to a whole one; it may be negative."""
    return round(quantity(value, "a duration", DURATIONS, "ms", signed=True))


def packet_count(value: object) -> int:
    """`"100 packets"` as 100."""
    count = quantity(value, "a number of packets", _PACKETS, "packets")
    if count.denominator != 1:
        raise UnitError(f"is not a whole number of packets: {float(count):g}")
    return int(count)


def size_or_packets(value: object) -> tuple[int | None, int | None]:
    """`"64 kB"` as bytes, or `"100 packets"` as packets; the other is none."""
    quantity(value, "a size or a number of packets", {**SIZES, **_PACKETS}, "B")
    if isinstance(value, str) and value.rstrip().endswith(tuple(_PACKETS)):
        return None, packet_count(value)
    return size_bytes(value), None


def share(value: object) -> float:
    """`"10 %"` as the fraction 0.1."""
    fraction = quantity(value, "a share", _SHARES, "%")
    if fraction > 1:
        raise UnitError("is more than 100 %", AT_MOST)
    return float(fraction)


def frequency_hz(value: object) -> float:
    """`"10 /s"` or `"6 /min"` as events per second."""
    return float(quantity(value, "a frequency", _FREQUENCIES, "/s"))


def level_dbm(value: object) -> float:
    """`"-85 dBm"` as -85."""
    level = float(quantity(value, "a signal level", _LEVELS, "dBm", signed=True))
    if not -300 <= level <= 0:
        hint = f'did you mean "-{level:g} dBm"?' if 0 < level <= 300 else 'such as "-85 dBm"'
        raise UnitError("is not a signal that a radio receives", hint)
    return level


def format_rate(bits_per_second: float) -> str:
    """A rate for people: `250 kbit/s`."""
    return in_largest(bits_per_second, RATES, ("Gbit/s", "Mbit/s", "kbit/s", "bit/s"))


def format_share(fraction: float) -> str:
    """A fraction for people: `6.45 %`."""
    return f"{fraction * 100:.3g} %"
