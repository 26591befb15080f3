import pytest

from tests.wirelab_energy.radios import NS, mine
from wirelab_energy import Packet, Range, battery_life, load_device, load_radio, per_day, radio_energy

RADIO = mine()
MESSAGE = radio_energy(RADIO, [Packet(0, True, 974)], 0, 0)


def test_a_day_repeats_the_message_with_rest_between() -> None:
    day = per_day(RADIO, None, MESSAGE, 10)
    # 8,640 times: a second at 2 to 5 W, nine at 1 W.
    assert day.radio_j == Range(8640 * 11, 8640 * 12, 8640 * 14)
    assert day.total_j == day.radio_j
    assert sum(each.typical for each in day.states_j.values()) == pytest.approx(day.radio_j.typical)
    assert day.cpu_j is None


def test_a_days_length_does_not_depend_on_when_the_message_was() -> None:
    late = radio_energy(RADIO, [Packet(7 * NS, True, 974)], 7 * NS, 7 * NS)
    assert per_day(RADIO, None, late, 10) == per_day(RADIO, None, MESSAGE, 10)


def test_a_device_sleeps_beside_its_radio_unless_they_are_one_chip() -> None:
    device = load_device("nrf9160")
    assert per_day(RADIO, device, MESSAGE, 10).sleep_j.typical == pytest.approx(86_400 * 2.7e-6 * 3.7)
    modem = load_radio("nrf9160-ltem")
    message = radio_energy(modem, [Packet(0, True, 100)], 0, 0)
    assert per_day(modem, device, message, 3600).sleep_j == Range.exact(0)
    assert per_day(modem, load_device("esp32"), message, 3600).sleep_j.typical > 0


def test_a_day_computes_for_each_of_its_messages() -> None:
    device = load_device("powerpi")
    here = per_day(RADIO, device, MESSAGE, 10, device.cpu_joules(2.0))
    assert here.cpu_j is not None
    assert here.cpu_j.typical == pytest.approx(8640 * 2 * 0.181)
    assert here.total_j.typical == pytest.approx(here.radio_j.typical + 86_400 * 1.5778 + here.cpu_j.typical)
    unknown = per_day(RADIO, device, MESSAGE, 10)
    assert unknown.cpu_j is None
    assert unknown.total_j == unknown.radio_j + unknown.sleep_j


def test_a_battery_lasts_for_what_it_holds() -> None:
    day = per_day(RADIO, None, MESSAGE, 10)
    # 1000 mAh at 3 V are 10,800 J.
    life = battery_life(day, 1000, 3)
    assert life.typical == pytest.approx(10_800 / (8640 * 12))
    assert (life.low, life.high) == (pytest.approx(10_800 / (8640 * 14)), pytest.approx(10_800 / (8640 * 11)))


def test_the_rarer_the_messages_the_longer_a_battery_lasts_up_to_sleep_alone() -> None:
    radio = load_radio("nrf9160-nbiot").with_inputs({"tau": "never"})
    message = radio_energy(radio, [Packet(0, True, 100)], 0, 0)
    lives = [battery_life(per_day(radio, None, message, each), 2400, 3.7).typical for each in (60, 3600, 86_400, 1e7)]
    assert lives == sorted(lives)
    assert lives[-1] == pytest.approx(2400 / 0.0027 / 24, rel=0.02)


def test_tracking_area_updates_are_part_of_the_day() -> None:
    radio = load_radio("nrf9160-nbiot").with_inputs({"tau": "1 h"})
    message = radio_energy(radio, [Packet(0, True, 100)], 0, 0)
    setup = per_day(radio, None, message, 86_400).states_j["setup"].typical
    # The message's own, and one an hour: each of them moves the next on by what it takes.
    assert setup / 0.55 == pytest.approx(1 + 23, abs=0.01)
