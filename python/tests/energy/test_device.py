import pytest

from wirelab.energy import device_names, load_device
from wirelab.energy.device import parse_device
from wirelab.errors import Where, WirelabError

DEVICES = [load_device(name) for name in device_names()]
# Active and asleep, mW.
POWERS = {
    "nrf52840": (3.3 * 3, 0.0015 * 3), "esp32": (27 * 3.3, 0.8 * 3.3), "nrf9160": (2.7 * 3.7, 0.0027 * 3.7),
    "powerpi": (1577.8 + 181, 1577.8), "raspberry-pi-3": (850 + 181, 850),
}  # fmt: skip


def test_the_powers_of_each_device_are_what_its_sources_make_them() -> None:
    assert {device.name for device in DEVICES} == set(POWERS)
    for device in DEVICES:
        found = (device.active.value.typical * 1e3, device.sleep.value.typical * 1e3)
        assert found == pytest.approx(POWERS[device.name], rel=2e-3)


def test_no_number_of_a_device_lacks_a_citation() -> None:
    for device in DEVICES:
        assert all(each.source for each in device.cited())
        assert device.label == f"{device.name} (unvalidated)"


def test_computing_costs_what_it_takes_beyond_sleep() -> None:
    joules = load_device("esp32").cpu_joules(10.0)
    assert joules.typical == pytest.approx(10 * (27 - 0.8) * 3.3e-3)
    assert joules.high == pytest.approx(10 * (44 - 0.8) * 3.3e-3)


def test_a_device_that_sleeps_dearer_than_it_computes_is_refused() -> None:
    table = {"supply": {"voltage": "3 V"}, "power": {"active": "1 mA", "sleep": "2 mA"}}
    with pytest.raises(WirelabError, match="sleeping takes more than computing"):
        parse_device("mine", table, Where("mine.toml"))
    with pytest.raises(WirelabError, match=r"has no 'power.sleep'"):
        parse_device("mine", {**table, "power": {"active": "1 mA"}}, Where("mine.toml"))
