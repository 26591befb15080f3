import pytest

from tests.wirelab_energy.radios import NS
from wirelab_energy import Packet, load_radio, radio_energy

RADIO = load_radio("nrf52840-ble")


def test_a_packet_goes_in_data_channel_pdus_each_answered_by_an_empty_one() -> None:
    # 60 B, 38 of them compressed, and 6 of L2CAP are 28: one PDU of 27 and one of 1, with 10 B around each.
    energy = radio_energy(RADIO, [Packet(NS, True, 60)], NS - 1, NS)
    assert energy.states["transmit"].seconds == pytest.approx((37 + 11) * 8e-6)
    assert energy.states["receive"].seconds == pytest.approx(2 * 80e-6)
    assert energy.states["between"].seconds == pytest.approx(4 * 150e-6)


def test_an_idle_connection_costs_the_more_the_shorter_its_interval() -> None:
    watts = [
        RADIO.machine.states(RADIO.with_inputs({"interval": each}).values("typical"))["connected"].watts
        for each in ("7.5 ms", "75 ms", "750 ms")
    ]
    assert watts[0] == pytest.approx(10 * watts[1]) == pytest.approx(100 * watts[2])
    skipping = RADIO.with_inputs({"latency": 9})
    assert skipping.machine.states(skipping.values("typical"))["connected"].watts == pytest.approx(watts[1])


def test_a_connection_that_is_closed_has_a_tail() -> None:
    energy = radio_energy(RADIO.with_inputs({"stays-connected": "2 s"}), [Packet(NS, True, 60)], 0, NS)
    assert energy.tail_s == pytest.approx(2)
    assert energy.states["connected"].seconds == pytest.approx(2)
