import pytest

from tests.wirelab_energy.radios import NS
from wirelab_energy import Packet, load_radio, radio_energy
from wirelab_energy.machine.ieee802154 import fragments

RADIO = load_radio("nrf52840-802154")
SLEEPY = RADIO.with_inputs({"stays-on": "100 ms"})


def test_fragments_are_those_of_the_links_own_model() -> None:
    # The cases of crates/wirelab-link/src/impairment/shared/sixlowpan.rs.
    for (size, compressed, room), expected in {
        (103, 0, 104): [104], (148, 44, 104): [104], (20, 40, 104): [0], (104, 0, 104): [101, 13],
        (1280, 0, 104): [101] * 13 + [37], (148, 40, 104): [100, 17], (136 + 96, 40, 104): [100, 101],
        (136 + 97, 40, 104): [100, 101, 6],
    }.items():  # fmt: skip
        assert fragments(size, compressed, room) == expected


def test_the_largest_frame_is_4_26_ms_on_the_air() -> None:
    # 127 B and 6 of the PHY at 250 kbit/s: 23 of the MAC, 104 of 142 B less 38 compressed.
    energy = radio_energy(RADIO, [Packet(NS, True, 142)], 0, 2 * NS)
    assert energy.airtime_up_s == pytest.approx(4.256e-3)


def test_each_frame_is_preceded_by_a_back_off_and_followed_by_its_ack() -> None:
    energy = radio_energy(SLEEPY, [Packet(NS, True, 142)], 0, NS)
    # The mean of 0 to 7 back-offs of 320 us; CCA, turning round twice and an ACK; then 100 ms of listening.
    assert energy.states["backoff"].seconds == pytest.approx(3.5 * 320e-6)
    assert energy.states["listen"].seconds == pytest.approx(128e-6 + 2 * 192e-6 + 352e-6 + 0.1)
    assert energy.tail_s == pytest.approx(0.1)
    two = radio_energy(SLEEPY, [Packet(NS, True, 143)], 0, NS)
    assert two.states["backoff"].seconds == pytest.approx(2 * 3.5 * 320e-6)


def test_what_is_received_is_acknowledged() -> None:
    energy = radio_energy(RADIO, [Packet(NS, False, 142)], 0, 2 * NS)
    assert energy.airtime_down_s == pytest.approx(4.256e-3)
    assert energy.airtime_up_s == pytest.approx(352e-6)


def test_a_radio_that_never_sleeps_has_no_tail_and_a_sleeping_one_polls() -> None:
    assert radio_energy(RADIO, [Packet(NS, True, 60)], 0, 2 * NS).tail_s == 0
    polling = SLEEPY.with_inputs({"poll": "1 s"})
    watts = polling.machine.states(polling.values("typical"))["sleep"].watts
    # 24 B and 6 of the PHY, then turning round and an ACK, once a second.
    assert watts == pytest.approx(0.96e-3 * 19.2e-3 + (128e-6 + 2 * 192e-6 + 352e-6) * 19.59e-3)
