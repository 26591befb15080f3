import pytest

from tests.wirelab_energy.radios import NS
from wirelab_energy import Packet, load_radio, radio_energy

AWAKE = load_radio("esp32-wifi")
SAVING = load_radio("esp32-wifi-ps")


def test_a_frame_has_its_preamble_and_overhead_and_an_ack() -> None:
    energy = radio_energy(AWAKE, [Packet(NS, True, 1500)], 0, 2 * NS)
    assert energy.airtime_up_s == pytest.approx(42e-6 + 1541 * 8 / 65e6, abs=1e-9)
    assert energy.airtime_down_s == pytest.approx(34e-6)
    back = radio_energy(AWAKE, [Packet(NS, False, 1500)], 0, 2 * NS)
    assert (back.airtime_up_s, back.airtime_down_s) == (energy.airtime_down_s, energy.airtime_up_s)


def test_without_power_save_it_listens_all_the_time() -> None:
    energy = radio_energy(AWAKE, [Packet(NS, True, 100)], 0, 100 * NS)
    assert "doze" not in energy.states
    assert energy.tail_s == 0
    assert energy.listening_s == pytest.approx(100, rel=1e-3)


def test_with_power_save_it_listens_to_beacons_once_nothing_has_passed_for_a_time() -> None:
    energy = radio_energy(SAVING, [Packet(NS, True, 100)], 0, 3 * NS)
    assert energy.tail_s == pytest.approx(0.1)
    dozed = energy.states["doze"].seconds
    assert dozed == pytest.approx(2.9, abs=1e-3)
    rare = radio_energy(SAVING.with_inputs({"dtim": 10}), [Packet(NS, True, 100)], 0, 3 * NS)
    assert energy.listening_s - rare.listening_s == pytest.approx(dozed * 0.9 * 3 / 102.4)


def test_a_packet_for_a_sleeping_station_is_asked_for() -> None:
    asleep = radio_energy(SAVING, [Packet(NS, False, 100)], 0, NS)
    awake = radio_energy(AWAKE, [Packet(NS, False, 100)], 0, NS)
    assert asleep.airtime_up_s - awake.airtime_up_s == pytest.approx(34e-6)
    two = radio_energy(SAVING, [Packet(NS, False, 100), Packet(NS + 10_000_000, False, 100)], 0, NS)
    assert two.airtime_up_s == pytest.approx(34e-6 * 3)
