"""Integrals of a trace, and what is missing from it."""

from __future__ import annotations

import numpy as np
import pytest

from wirelab_energy.trace import Trace


def trace(times: list[float], watts: list[float], *, since_1970: bool = False) -> Trace:
    return Trace("CSV", np.array(times), np.array(watts), since_1970)


def test_the_integral_is_that_of_the_lines_between_samples() -> None:
    ramp = trace([0, 1, 2], [0, 2, 2])
    assert ramp.integral_j(0, 2) == pytest.approx(3.0)
    assert ramp.integral_j(0, 2, above_w=1.0) == pytest.approx(1.0)


def test_ends_between_samples_are_interpolated() -> None:
    assert trace([0, 1, 2], [0, 2, 2]).integral_j(0.5, 1.5) == pytest.approx((1 + 2) / 2 * 0.5 + 2 * 0.5)


def test_nothing_is_counted_in_a_gap_or_outside() -> None:
    times = [*np.arange(0, 1, 0.01), *np.arange(2, 3, 0.01)]
    gappy = trace([float(each) for each in times], [1.0] * len(times))
    [(begin, end)] = gappy.gaps
    assert (begin, end) == (pytest.approx(0.99), pytest.approx(2.0))
    assert gappy.integral_j(0, 2.99) == pytest.approx(0.99 * 2)
    assert gappy.known_s(0, 2.99) == pytest.approx(0.99 * 2)
    assert gappy.known_s(0.5, 1.5) == pytest.approx(0.49)
    assert gappy.integral_j(-5, 0.5) == pytest.approx(0.5)
    assert gappy.known_s(10, 20) == 0


def test_stamps_too_coarse_to_tell_samples_apart_are_no_gaps() -> None:
    times = [float(each) for each in np.repeat(np.arange(10), 3)]
    coarse = trace(times, [1.0] * len(times))
    assert (coarse.step_s, coarse.gaps) == (1.0, ())
    assert coarse.integral_j(0, 9) == pytest.approx(9.0)


def test_a_trace_may_be_put_at_another_time() -> None:
    shifted = trace([0, 1], [1, 1]).shifted(100, since_1970=True)
    assert (shifted.start_s, shifted.end_s, shifted.since_1970) == (100, 101, True)
