import pytest

from wirelab_energy import device_names, load_device
from wirelab_energy.device import Device, parse_device
from wirelab_energy.errors import Where, WirelabError

DEVICES = [load_device(name) for name in device_names()]
# Computing beyond sleep, and asleep, mW.
POWERS = {
    "nrf52840": (3.2985 * 3, 0.0015 * 3), "esp32": (26.2 * 3.3, 0.8 * 3.3), "nrf9160": (2.6973 * 3.7, 0.0027 * 3.7),
    "powerpi": (181, 1577.8), "raspberry-pi-3": (181, 850),
}  # fmt: skip


def test_the_powers_of_each_device_are_what_its_sources_make_them() -> None:
    assert {device.name for device in DEVICES} == set(POWERS)
    for device in DEVICES:
        found = (device.beyond_sleep.typical * 1e3, device.sleep.value.typical * 1e3)
        assert found == pytest.approx(POWERS[device.name], rel=1e-9)


def test_no_number_of_a_device_lacks_a_citation() -> None:
    for device in DEVICES:
        assert all(each.source for each in device.cited())
        assert device.label == f"{device.name} (unvalidated)"


def test_computing_costs_what_it_takes_beyond_sleep() -> None:
    joules = load_device("esp32").cpu_joules(10.0)
    assert joules.typical == pytest.approx(10 * (27 - 0.8) * 3.3e-3)
    assert joules.high == pytest.approx(10 * (44 - 0.8) * 3.3e-3)


def mine(**power: object) -> Device:
    return parse_device("mine", {"supply": {"voltage": "3 V"}, "power": power}, Where("mine.toml"))


def test_uncertain_powers_that_were_measured_apart_do_not_cancel() -> None:
    asleep = ["0.80 W", "0.85 W", "0.90 W"]
    joules = mine(active=["0.98 W", "1.03 W", "1.08 W"], sleep=asleep).cpu_joules(10.0)
    assert (joules.low, joules.typical, joules.high) == pytest.approx((0.8, 1.8, 2.8))
    assert mine(active=["0.88 W", "1.03 W", "1.08 W"], sleep=asleep).cpu_joules(10.0).low == 0
    one = mine(**{"beyond-sleep": ["0.1 W", "0.2 W", "0.3 W"], "sleep": asleep}).cpu_joules(10.0)
    assert (one.low, one.typical, one.high) == pytest.approx((1, 2, 3))


def test_what_computing_takes_is_said_once() -> None:
    with pytest.raises(WirelabError, match=r"says again what 'power.active' says"):
        mine(**{"active": "2 W", "beyond-sleep": "1 W", "sleep": "1 W"})


def test_a_device_that_sleeps_dearer_than_it_computes_is_refused() -> None:
    with pytest.raises(WirelabError, match="sleeping takes more than computing"):
        mine(active="1 mA", sleep="2 mA")
    with pytest.raises(WirelabError, match=r"has no 'power.sleep'"):
        mine(active="1 mA")
    with pytest.raises(WirelabError, match=r"has no 'power.active'"):
        mine(sleep="1 mA")
