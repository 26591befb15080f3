"""Work above idle: the integral of (power - idle power), as h2window2017 has it."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab_energy.range import Range
from wirelab_energy.trace.idle import Idle
from wirelab_energy.trace.trace import Trace

RESOLUTION = 1e-9
"""Share of what was summed up below which a difference is that of its rounding: nothing was measured."""


@dataclass(frozen=True)
class Work:
    """What a part of a trace took. `above_idle_j` has its range from how steady the idle section was; `missing_s` of
    the time were not sampled, and count as nothing.
    """

    from_s: float
    to_s: float
    total_j: float
    above_idle_j: Range
    missing_s: float

    @property
    def duration_s(self) -> float:
        return self.to_s - self.from_s


def work(trace: Trace, idle: Idle, from_s: float, to_s: float) -> Work:
    """Of the time from one instant to another of the trace's."""
    known_s = trace.known_s(from_s, to_s)
    total = trace.integral_j(from_s, to_s)
    least = RESOLUTION * abs(total)
    differences = (total - level * known_s for level in (idle.watts.high, idle.watts.typical, idle.watts.low))
    above = Range(*(each if abs(each) > least else 0.0 for each in differences))
    return Work(from_s, to_s, total, above, max(0.0, to_s - from_s - known_s))
