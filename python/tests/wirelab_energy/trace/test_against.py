"""A model beside a measurement."""

from __future__ import annotations

import pytest

from wirelab_energy import Packet, load_radio, radio_energy
from wirelab_energy.range import Range
from wirelab_energy.trace.against import Compared, above_rest
from wirelab_energy.trace.work import Work

SECOND = 1_000_000_000


def test_a_radio_without_packets_takes_nothing_above_its_rest() -> None:
    assert above_rest(load_radio("enc28j60-ethernet"), [], 0, SECOND) == Range(0, 0, 0)


def test_what_packets_cost_above_rest_does_not_depend_on_how_long_one_looks() -> None:
    radio = load_radio("enc28j60-ethernet")
    packets = [Packet(SECOND // 2, up=True, size=1000)]
    short, long = (above_rest(radio, packets, 0, seconds * SECOND).typical for seconds in (1, 100))
    assert short == pytest.approx(long)
    whole = radio_energy(radio, packets, 0, SECOND).joules.typical
    assert 0 < short < whole


def test_no_ratio_is_formed_with_a_measurement_that_does_not_stand_out_of_idle() -> None:
    model = Range(1, 2, 3)
    out = Compared("a", Work(0, 1, 5.0, Range(3.9, 4.0, 4.1), 0.0), model)
    within = Compared("b", Work(0, 1, 5.0, Range(-0.1, 4.0, 4.1), 0.0), model)
    assert (out.ratio, within.ratio) == (0.5, None)
