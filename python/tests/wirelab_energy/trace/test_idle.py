"""Where a device idled."""

from __future__ import annotations

import numpy as np
import pytest

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.trace import Trace, find_idle, idle_between

WHERE = Where("power.csv")


def made(watts: np.ndarray[tuple[int], np.dtype[np.float64]], step_s: float = 0.01) -> Trace:
    return Trace("CSV", 50.0 + np.arange(len(watts)) * step_s, watts, since_1970=False)


def busy(noise_w: float = 0.002) -> Trace:
    """10 s: idle at 0.8 W, but from 3 s to 5 s at 2 W."""
    watts = np.full(1000, 0.8) + np.random.default_rng(1).normal(0, noise_w, 1000)
    watts[300:500] += 1.2
    return made(watts)


def test_the_steady_section_of_least_power_is_found() -> None:
    idle = find_idle(busy(), WHERE)
    assert idle.found
    assert idle.watts.typical == pytest.approx(0.8, abs=0.002)
    assert idle.watts.low < idle.watts.typical < idle.watts.high
    assert (idle.from_s, idle.to_s) in [(50, pytest.approx(53, abs=0.1)), (pytest.approx(55, abs=0.1), 59.99)]


def test_the_quietest_part_of_a_noisy_idle_section_is_not_taken_for_idle() -> None:
    errors = []
    for seed in range(40):
        noise = np.random.default_rng(seed).normal(0, 0.05, 1000)
        noise[300:500] += 1.2
        errors.append(find_idle(made(0.8 + noise), WHERE).watts.typical - 0.8)
    assert abs(float(np.mean(errors))) < 0.003


def test_a_short_dip_is_no_idle_section() -> None:
    trace = busy()
    trace.watts[400:405] = 0.1
    assert find_idle(trace, WHERE).watts.typical == pytest.approx(0.8, abs=0.01)


def test_a_trace_without_a_steady_section_is_refused_with_how_much_it_varies() -> None:
    restless = made(1 + np.sin(np.arange(1000) / 3.0))
    wave = find_idle(made(np.full(1000, 1.0)), WHERE)
    assert wave.watts.low == wave.watts.high
    slope = made(np.linspace(1.0, 0.0, 1000) ** 0.25)
    with pytest.raises(WirelabError, match=r"has no idle section: its quietest 0\.5 s \(from 9\.49 s\) vary by"):
        find_idle(slope, WHERE)
    with pytest.raises(WirelabError, match="has no idle section"):
        find_idle(restless, WHERE)


def test_too_few_samples_and_gaps_everywhere_are_refused() -> None:
    with pytest.raises(WirelabError, match="has 49 samples, too few"):
        find_idle(made(np.ones(49)), WHERE)
    times = np.concatenate([at + np.arange(3) * 1e-3 for at in range(100)])
    with pytest.raises(WirelabError, match="without a gap to find an idle section in"):
        find_idle(Trace("CSV", times, np.ones(len(times)), since_1970=False), WHERE)


def test_a_section_that_was_named_is_taken_as_it_is() -> None:
    idle = idle_between(busy(), 53.1, 54.9, WHERE)
    assert not idle.found
    assert idle.watts.typical == pytest.approx(2.0, abs=0.002)


def test_a_section_of_one_power_has_that_power() -> None:
    watts = np.full(1000, 0.1)
    watts[600:] = 0.5
    idle = find_idle(made(watts), WHERE)
    assert idle.watts.low <= idle.watts.typical <= idle.watts.high
    assert idle.watts.typical == pytest.approx(0.1)


def test_the_mean_is_over_time_where_samples_are_closer_together_in_one_part() -> None:
    times = np.concatenate([np.arange(1000) * 0.005, 5 + np.arange(201) * 0.025])
    watts = np.where(times < 5, 1.0, 0.5)
    idle = idle_between(Trace("CSV", times, watts, since_1970=False), 0, 10, WHERE)
    assert idle.watts.typical == pytest.approx(0.75, abs=0.001)


def test_a_section_outside_the_trace_or_upside_down_is_refused() -> None:
    with pytest.raises(WirelabError, match=r"has 0 samples from 20 s to 30 s") as error:
        idle_between(busy(), 70, 80, WHERE)
    assert error.value.hint == "it lasts from 0 s to 9.99 s"
    with pytest.raises(WirelabError, match="before it begins"):
        idle_between(busy(), 54, 52, WHERE)
