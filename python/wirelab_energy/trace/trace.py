"""Power over time, as a meter sampled it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GAP = 10.0
"""A step of more than so many usual ones is a gap: the meter said nothing of that time."""


@dataclass(frozen=True)
class Trace:
    """`times_s` never falls; `watts` are the power at each of them. `since_1970` if the times are the clock's."""

    kind: str
    times_s: Floats
    watts: Floats
    since_1970: bool

    @property
    def start_s(self) -> float:
        return float(self.times_s[0])

    @property
    def end_s(self) -> float:
        return float(self.times_s[-1])

    @property
    def duration_s(self) -> float:
        return self.end_s - self.start_s

    @cached_property
    def step_s(self) -> float:
        """The usual time between two samples: the median, of those at different instants."""
        steps = np.diff(self.times_s)
        return float(np.median(steps[steps > 0]))

    @cached_property
    def gaps(self) -> tuple[tuple[float, float], ...]:
        """From where to where samples are missing, in seconds of the trace's time."""
        steps = np.diff(self.times_s)
        at = np.flatnonzero(steps > GAP * self.step_s)
        return tuple((float(self.times_s[i]), float(self.times_s[i + 1])) for i in at)

    def between(self, from_s: float, to_s: float) -> Trace:
        """The samples of a part of it, ends included."""
        inside = (self.times_s >= from_s) & (self.times_s <= to_s)
        return Trace(self.kind, self.times_s[inside], self.watts[inside], self.since_1970)

    def shifted(self, by_s: float, *, since_1970: bool) -> Trace:
        """The same at other times."""
        return Trace(self.kind, self.times_s + by_s, self.watts, since_1970)

    def integral_j(self, from_s: float, to_s: float, *, above_w: float = 0.0) -> float:
        """Of the power above a level, by the trapezoidal rule; what lies in gaps is 0, and ends are interpolated."""
        inner = self.times_s[(self.times_s > from_s) & (self.times_s < to_s)]
        times = np.concatenate([[from_s], inner, [to_s]])
        watts = np.interp(times, self.times_s, self.watts) - above_w
        parts = np.diff(times) * (watts[:-1] + watts[1:]) / 2
        middles = (times[:-1] + times[1:]) / 2
        known = (middles >= self.start_s) & (middles <= self.end_s)
        for low, high in self.gaps:
            known &= (middles <= low) | (middles >= high)
        return float(parts[known].sum())

    def known_s(self, from_s: float, to_s: float) -> float:
        """How much of this time the meter sampled."""
        low, high = max(from_s, self.start_s), min(to_s, self.end_s)
        missing = sum(max(0.0, min(high, end) - max(low, start)) for start, end in self.gaps)
        return max(0.0, high - low - missing)
