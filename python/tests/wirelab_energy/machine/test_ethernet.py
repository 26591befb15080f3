import pytest

from tests.wirelab_energy.radios import NS
from wirelab_energy import Packet, load_radio, radio_energy

RADIO = load_radio("enc28j60-ethernet")


@pytest.mark.parametrize(("size", "on_the_wire"), [(1500, 1526), (46, 72), (20, 72), (0, 72)])
def test_a_frame_has_preamble_header_and_fcs_and_is_never_shorter_than_64_bytes(size: int, on_the_wire: int) -> None:
    energy = radio_energy(RADIO, [Packet(NS, True, size)], 0, 2 * NS)
    assert energy.airtime_up_s == pytest.approx(on_the_wire * 8 / 10e6)


def test_the_link_is_up_all_the_time() -> None:
    energy = radio_energy(RADIO, [], 0, 100 * NS)
    assert energy.joules.typical == pytest.approx(100 * 0.12 * 3.3)
    assert energy.listening_s == 100
