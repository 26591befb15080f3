"""Where time-outs count in a mean of delays, in words, and when that decides the mean."""

from __future__ import annotations

from wirelab.units import format_duration

LATE_S = 1.0
"""The share of delays above this is given next to their mean."""

MOST_OF_A_MEAN = 0.05
"""Where time-outs make more of a mean, the horizon decides it."""


def counted_at(horizon_s: float) -> str:
    """`time-outs counted at 10 s`."""
    return f"time-outs counted at {format_duration(round(horizon_s * 1e9))}"
