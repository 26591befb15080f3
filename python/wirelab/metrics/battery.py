"""Battery life."""

from __future__ import annotations

from collections.abc import Mapping

from wirelab_energy import DayEnergy, Range, battery_life


def battery_days(day_j: Mapping[str, float], capacity_mah: float, voltage_v: float) -> dict[str, float]:
    """Days, with bounds, of days of so many joules."""
    day = DayEnergy(86_400.0, Range(day_j["low"], day_j["typical"], day_j["high"]), {}, Range.exact(0.0), None)
    life = battery_life(day, capacity_mah, voltage_v)
    return {"low": life.low, "typical": life.typical, "high": life.high}
