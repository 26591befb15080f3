"""Work above idle, as the paper on HTTP/2's window has it."""

from __future__ import annotations

import numpy as np
import pytest

from wirelab_energy.range import Range
from wirelab_energy.trace import Idle, Trace, work


def test_work_is_the_integral_of_power_above_idle_with_the_range_of_idle_power() -> None:
    times = np.arange(0, 10, 0.001)
    watts = np.where((times >= 4) & (times < 5), 2.0, 0.8)
    trace = Trace("CSV", times, watts, since_1970=False)
    done = work(trace, Idle(0, 2, Range(0.79, 0.8, 0.82), found=True), 3, 6)
    assert done.total_j == pytest.approx(0.8 * 3 + 1.2, abs=1e-6)
    assert done.above_idle_j.typical == pytest.approx(1.2, abs=1e-6)
    assert done.above_idle_j.low == pytest.approx(1.2 - 0.02 * 3, abs=1e-6)
    assert done.above_idle_j.high == pytest.approx(1.2 + 0.01 * 3, abs=1e-6)
    assert (done.duration_s, done.missing_s) == (3, 0)


def test_idle_power_is_taken_off_sampled_time_alone() -> None:
    times = np.concatenate([np.arange(0, 1, 0.001), np.arange(2, 3, 0.001)])
    trace = Trace("CSV", times, np.full(len(times), 1.0), since_1970=False)
    done = work(trace, Idle(0, 1, Range(1, 1, 1), found=True), 0, 2.999)
    assert done.above_idle_j.typical == pytest.approx(0, abs=1e-9)
    assert done.missing_s == pytest.approx(1.001)
