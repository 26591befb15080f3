import pytest

from tests.wirelab_energy.radios import NS
from wirelab_energy import Packet, load_radio, radio_energy
from wirelab_energy.machine.lorawan import airtime_s

RADIO = load_radio("sx1276-lorawan")


@pytest.mark.parametrize(
    ("size", "spreading", "milliseconds"),
    # By hand: (8 + 4.25 + 8 + 5 ceil(...)) symbols of 2^SF / 125 kHz.
    [(13, 7, 46.336), (64, 12, 2793.472), (13, 12, 1155.072), (26, 9, 205.824), (255, 7, 399.616)],
)
def test_a_frame_is_on_the_air_as_long_as_semtechs_formula_says(size: int, spreading: int, milliseconds: float) -> None:
    assert airtime_s(size, spreading) * 1e3 == pytest.approx(milliseconds)


def test_behind_a_frame_the_receiver_listens_twice() -> None:
    energy = radio_energy(RADIO, [Packet(NS, True, 20)], 0, NS)
    assert energy.airtime_up_s == pytest.approx(airtime_s(33, 7))
    # 12 symbols at SF7 and 8 at SF12.
    assert energy.states["window"].seconds == pytest.approx(12 * 1.024e-3 + 8 * 32.768e-3)
    assert energy.tail_s == pytest.approx(2 + 8 * 32.768e-3)


def test_a_packet_longer_than_a_frame_goes_in_several() -> None:
    slow = RADIO.with_inputs({"spreading": "SF12"})
    energy = radio_energy(slow, [Packet(NS, True, 120)], 0, NS)
    assert energy.airtime_up_s == pytest.approx(2 * airtime_s(64, 12) + airtime_s(31, 12))
    one = radio_energy(slow, [Packet(NS, True, 51)], 0, NS)
    assert one.airtime_up_s == pytest.approx(airtime_s(64, 12))


def test_what_is_received_closes_the_windows() -> None:
    energy = radio_energy(RADIO, [Packet(NS, True, 20), Packet(round(2.2 * NS), False, 20)], 0, NS)
    assert energy.airtime_down_s == pytest.approx(airtime_s(33, 7, crc=False))
    assert energy.tail_s == 0


def test_a_module_wakes_before_a_frame_and_closes_behind_its_windows() -> None:
    module = load_radio("mdot-lorawan")
    energy = radio_energy(module, [Packet(NS, True, 20)], 0, NS)
    assert energy.states["prepare"].seconds == pytest.approx(0.252)
    assert energy.states["close"].seconds == pytest.approx(0.453)
    assert energy.tail_s == pytest.approx(2 + 32.768e-3 + 0.453)
