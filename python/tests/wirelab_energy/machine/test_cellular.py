import pytest

from tests.wirelab_energy.radios import NS
from wirelab_energy import Packet, RadioEnergy, load_radio, radio_energy

RADIO = load_radio("nrf9160-nbiot")
UP = Packet(NS, True, 250)


def seconds(energy: RadioEnergy) -> dict[str, float]:
    return {state: share.seconds for state, share in energy.states.items()}


def order(energy: RadioEnergy) -> list[str]:
    return [each.state for each in energy.timeline]


def test_a_message_sets_up_a_connection_and_pays_for_every_timer_behind_it() -> None:
    energy = radio_energy(RADIO, [UP], 0, NS)
    assert order(energy) == ["psm", "setup", "transmit", "listen", "drx", "idle"]
    # 250 B at 20 kbit/s are 0.1 s.
    assert seconds(energy) == pytest.approx(
        {"psm": 1, "setup": 2.7, "transmit": 0.1, "listen": 0.2, "drx": 9.8, "idle": 60}
    )


def test_a_packet_within_the_inactivity_timer_sets_nothing_up() -> None:
    energy = radio_energy(RADIO, [UP, Packet(9 * NS, True, 250)], 0, NS)
    assert seconds(energy)["setup"] == pytest.approx(2.7)
    idle = radio_energy(RADIO, [UP, Packet(40 * NS, True, 250)], 0, NS)
    assert seconds(idle)["setup"] == pytest.approx(2.7 + 1)
    asleep = radio_energy(RADIO, [UP, Packet(140 * NS, True, 250)], 0, NS)
    assert seconds(asleep)["setup"] == pytest.approx(2 * 2.7)


def test_release_assistance_ends_the_connection_at_once() -> None:
    energy = radio_energy(RADIO.with_inputs({"rai": "on"}), [UP], 0, NS)
    assert order(energy) == ["psm", "setup", "transmit", "idle"]
    assert energy.tail_s == pytest.approx(60)


def test_a_client_does_not_ask_for_release_before_its_answer() -> None:
    answered = [UP, Packet(6 * NS, False, 50), Packet(6 * NS, True, 20)]
    energy = radio_energy(RADIO.with_inputs({"rai": "on"}), answered, 0, NS)
    assert order(energy) == ["psm", "setup", "transmit", "listen", "drx", "receive", "transmit", "idle"]
    late = [UP, Packet(30 * NS, True, 50)]
    assert order(radio_energy(RADIO.with_inputs({"rai": "on"}), late, 0, NS))[3:5] == ["idle", "setup"]


def test_without_psm_it_pages_for_ever_and_the_less_the_longer_the_cycle() -> None:
    paging = RADIO.with_inputs({"active": "never"})
    energy = radio_energy(paging, [UP], 0, 100 * NS)
    assert order(energy)[-1] == "idle"
    assert energy.tail_s == pytest.approx(10)
    edrx = paging.with_inputs({"paging": "81.92 s"})
    assert edrx.machine.states(edrx.values("typical"))["idle"].watts == pytest.approx(37e-6 * 3.7, rel=1e-3)


def test_repetition_lengthens_signalling_and_sending() -> None:
    energy = radio_energy(RADIO.with_inputs({"coverage": "CE2"}), [UP], 0, NS)
    assert seconds(energy)["setup"] == 10
    assert seconds(energy)["transmit"] == pytest.approx(250 * 8 / 160)


def test_tracking_area_updates_interrupt_psm() -> None:
    energy = radio_energy(RADIO.with_inputs({"tau": "1 h"}), [UP], 0, 3 * 3600 * NS)
    assert order(energy)[:6] == ["psm", "setup", "transmit", "listen", "drx", "idle"]
    # Each update is followed by the active time.
    assert order(energy)[6:] == ["psm", "setup", "idle"] * 2 + ["psm"]
    assert seconds(energy)["setup"] == pytest.approx(3 * 2.7)


def test_a_packet_for_it_has_been_paged_and_received_by_its_time() -> None:
    energy = radio_energy(RADIO, [UP, Packet(40 * NS, False, 250)], 0, NS)
    down = next(each for each in energy.timeline if each.state == "receive")
    assert down.end_ns == 40 * NS
    assert seconds(energy)["receive"] == pytest.approx(250 * 8 / 250e3)
    assert order(energy)[order(energy).index("receive") - 1] == "setup"


def test_the_output_power_is_what_the_user_sets() -> None:
    less = radio_energy(RADIO.with_inputs({"tx-power": "0 dBm"}), [UP], 0, NS)
    more = radio_energy(RADIO.with_inputs({"tx-power": "10 dBm"}), [UP], 0, NS)
    difference = more.states["transmit"].joules.typical - less.states["transmit"].joules.typical
    assert difference == pytest.approx(0.1 * (42.5 - 37.5) * 3.7e-3)
