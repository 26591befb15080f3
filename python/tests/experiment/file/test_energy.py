"""`[energy]` of an experiment file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.cli.arguments import load
from wirelab.errors import WirelabError
from wirelab.plan import make_plan
from wirelab.schema.plan import LinkRadio

RADIO = "enc28j60-ethernet"
TEXT = """
title = "t"
[factors]
protocol = ["raw-tcp"]
[workload]
upload = "30 B"
"""
EVERY = 'interval = "15 min"\n'
"""Of the workload, whose table is the last of the text."""


def written(folder: Path, energy: str = "") -> str:
    path = folder / "t.toml"
    path.write_text(TEXT + energy)
    return str(path)


def errors(folder: Path, energy: str, *sets: str) -> str:
    with pytest.raises(WirelabError) as error:
        load(written(folder, energy), sets)
    return str(error.value).replace(f"{folder}/", "")


def test_a_radio_changes_no_scenario_and_no_trial(tmp_path: Path) -> None:
    without = make_plan(load_experiment(written(tmp_path, EVERY)))
    text = f'{EVERY}[energy]\nradio = "enc28j60-ethernet"\nbattery = "2.4 Ah"\nvoltage = "3.7 V"\n'
    plan = make_plan(load(written(tmp_path, text), ()))
    assert plan.scenarios == without.scenarios
    assert plan.blocks == without.blocks
    energy = plan.to_json()["experiment"]["energy"]
    assert energy == {
        "radio": "enc28j60-ethernet", "inputs": {}, "device": None, "radios": {}, "measured_on_device": False,
        "battery_mah": 2400.0, "battery_v": 3.7,
    }  # fmt: skip
    assert without.to_json()["experiment"]["energy"] is None


def test_a_user_defined_radio_is_looked_up_next_to_the_experiment(tmp_path: Path) -> None:
    plan = make_plan(load_experiment(written(tmp_path, '[energy]\nradio = "./mine.toml"\n')))
    assert plan.experiment.energy is not None
    assert plan.experiment.energy.radio == "mine.toml"
    experiment = load_experiment(written(tmp_path, '[energy]\nradio = "./mine.toml"\ndevice = "nrf52840"\n'))
    assert experiment.energy is not None
    assert experiment.energy.files(tmp_path) == {"mine.toml": tmp_path / "mine.toml"}
    assert str(tmp_path) not in str(plan.to_json()["experiment"])
    assert errors(tmp_path, '[energy]\nradio = "./mine.toml"\n').startswith("mine.toml: no such file")


def test_a_radio_input_is_not_a_factor(tmp_path: Path) -> None:
    plan = make_plan(load(written(tmp_path), ("energy.radio=enc28j60-ethernet", "energy.device=esp32")))
    assert len(plan.scenarios) == 1
    assert plan.experiment.energy is not None
    assert plan.experiment.energy.device == "esp32"


@pytest.mark.parametrize(
    ("radio", "more", "expected"),
    [
        ("enc28j60", "", "8:1: energy.radio: unknown radio 'enc28j60'\nhint: did you mean 'enc28j60-ethernet'?"),
        (RADIO, 'device = "pc"', "9:1: energy.device: unknown device 'pc'"),
        (RADIO, 'inputs = { drx = "1 s" }', f"9:1: energy.inputs: radio {RADIO} has no input 'drx'"),
        (RADIO, 'battery = "1 Ah"', "9:1: energy.battery: no voltage of the battery"),
        (RADIO, 'voltage = "1 V"', "9:1: energy.voltage: no battery of this voltage"),
        (
            RADIO,
            "measured-on-device = true",
            "9:1: energy.measured-on-device: CPU time needs the power of a device, and none is given\n"
            'hint: device = "raspberry-pi-3" (wirelab list devices)',
        ),
        (RADIO, 'battery = "1 kB"', "9:1: energy.battery: unknown unit 'kB' of a charge"),
        (
            "a/mine.toml",
            'device = "b/mine.toml"',
            "9:1: energy.device: radio and device are both named mine.toml: a campaign keeps one file of a name",
        ),
        (
            RADIO,
            'interval = "10 min"',
            '9:1: energy.interval: is the workload\'s ("10 min")\nhint: [workload] interval = "10 min"',
        ),
        (RADIO, 'radios.nb-iott = "nrf9160-nbiot"', "9:8: energy.radios.nb-iott: no such link\nhint: did you mean"),
        (RADIO, 'radios.nb-iot = "nrf9160"', "9:8: energy.radios.nb-iot.radio: unknown radio 'nrf9160'"),
        (
            RADIO,
            'radios.nb-iot = { radio = "nrf9160-nbiot", inputs = { drx = "1 s" } }',
            "9:44: energy.radios.nb-iot.inputs: radio nrf9160-nbiot has no input 'drx'",
        ),
        (RADIO, "radios.nb-iot = 5", '9:8: energy.radios.nb-iot: is not a radio (5)\nhint: write "nrf9160-nbiot" or'),
        (RADIO, "radios.nb-iot = {}", "9:8: energy.radios.nb-iot.radio: is missing"),
        (
            RADIO,
            'battery = "1 Ah"\nvoltage = "3 V"',
            "9:1: energy.battery: battery life depends on the interval between messages, and exchanges follow one "
            'another\nhint: [workload] interval = "15 min"',
        ),
    ],
)
def test_an_error_in_the_energy_table_is_reported_at_its_key(
    tmp_path: Path, radio: str, more: str, expected: str
) -> None:
    assert errors(tmp_path, f'[energy]\nradio = "{radio}"\n{more}\n').startswith(f"t.toml:{expected}")


def test_a_voltage_of_0_is_refused_with_one_that_would_do(tmp_path: Path) -> None:
    text = f'[energy]\nradio = "{RADIO}"\nbattery = "1 Ah"\nvoltage = "0 V"\n'
    assert 't.toml:10:1: energy.voltage: must be more than 0 ("0 V")\nhint: such as "3.7 V"' in errors(tmp_path, text)


def test_each_link_may_have_its_radio(tmp_path: Path) -> None:
    text = """[energy]
device = "esp32"
[energy.radios]
near = "enc28j60-ethernet"
nb-iot-psm = { radio = "nrf9160-nbiot", inputs = { inactivity = "5 s" }, device = "nrf9160" }
[links.near]
rtt = "1 ms"
"""
    experiment = load(written(tmp_path, text), ("link=near,nb-iot-psm,wifi-n",))
    energy = make_plan(experiment).experiment.energy
    assert energy is not None
    near, far = energy.of("near"), energy.of("nb-iot-psm")
    assert near == LinkRadio(radio="enc28j60-ethernet", device="esp32")
    assert far == LinkRadio(radio="nrf9160-nbiot", inputs={"inactivity": "5 s"}, device="nrf9160")
    assert energy.of("wifi-n") is None
    assert "energy: link wifi-n has no radio, so its scenarios have no energy" in experiment.source.notes
    every = load(written(tmp_path, text), ("link=near,nb-iot-psm,wifi-n", "energy.radio=esp32-wifi")).energy
    assert every is not None
    assert every.record().of("wifi-n") == LinkRadio(radio="esp32-wifi", device="esp32")


def test_a_table_of_energy_needs_a_radio_of_some_link(tmp_path: Path) -> None:
    assert errors(tmp_path, '[energy]\ndevice = "esp32"\n').startswith("t.toml:7:1: energy.radio: is missing")
    text = '[energy]\ninputs = { inactivity = "5 s" }\nradios.nb-iot = "nrf9160-nbiot"\n'
    assert errors(tmp_path, text).startswith("t.toml:8:1: energy.inputs: no radio with these inputs")


def test_files_of_links_radios_are_named_too(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    own = '[energy]\nradio = "a/mine.toml"\nradios.nb-iot = { radio = "b/other.toml" }\n'
    experiment = load_experiment(written(tmp_path, own))
    assert experiment.energy is not None
    assert experiment.energy.files(tmp_path) == {
        "mine.toml": tmp_path / "a/mine.toml", "other.toml": tmp_path / "b/other.toml",
    }  # fmt: skip
    twice = own.replace("other", "mine")
    assert "radio and radios.nb-iot.radio are both named mine.toml" in errors(tmp_path, twice)


def test_a_battery_needs_messages_with_a_time_between_them(tmp_path: Path) -> None:
    text = f'[energy]\nradio = "{RADIO}"\nbattery = "2.4 Ah"\nvoltage = "3.7 V"\n'
    for sets in (("workload.interval=15min",), ("workload.arrival={ poisson = '6 /h' }",)):
        load(written(tmp_path, text), sets)
    # One scenario with an interval is enough: the others say why they have no battery life.
    load(written(tmp_path, text), ("workload.arrival=closed,{ fixed = '6 /h' }",))
    assert "battery life depends on the interval" in errors(tmp_path, text, "workload.arrival=closed")


def test_a_metric_of_energy_needs_a_radio(tmp_path: Path) -> None:
    said = errors(tmp_path, "", "metric=radio-energy")
    assert 'no radio for the metric ("radio-energy")' in said
    load(written(tmp_path, '[energy]\nradio = "enc28j60-ethernet"\n'), ("metric=radio-energy",))


def test_an_experiment_on_the_device_itself_says_so_and_changes_no_trial(tmp_path: Path) -> None:
    text = f'[energy]\nradio = "{RADIO}"\ndevice = "raspberry-pi-3"\n'
    elsewhere, here = (
        make_plan(load(written(tmp_path, text), sets)) for sets in ((), ("energy.measured-on-device=true",))
    )
    assert (elsewhere.scenarios, elsewhere.blocks) == (here.scenarios, here.blocks)
    assert [plan.experiment.energy and plan.experiment.energy.measured_on_device for plan in (elsewhere, here)] == [
        False, True,
    ]  # fmt: skip


def test_a_metric_of_the_processor_needs_a_campaign_on_the_device(tmp_path: Path) -> None:
    text = f'[energy]\nradio = "{RADIO}"\ndevice = "raspberry-pi-3"\n'
    said = errors(tmp_path, text, "metric=message-energy")
    assert 'no CPU time of a device for the metric ("message-energy")' in said
    load(written(tmp_path, text), ("metric=message-energy", "energy.measured-on-device=true"))


@pytest.mark.parametrize(
    ("energy", "options", "place"),
    [
        ("", ["energy.radio=powerpi"], "--set: energy.radio: "),
        (f'[energy]\nradio = "{RADIO}"\n', ["energy.device=rpi"], "--set: energy.device: "),
        ("", ["energy.device=esp32"], "--set: energy.radio: is missing"),
        ("", ["energy.radio=nrf9160-ltem", "energy.inputs.inactivity=5"], "--set: energy.inputs.inactivity: "),
    ],
)
def test_an_error_caused_by_an_option_names_the_option(
    tmp_path: Path, energy: str, options: list[str], place: str
) -> None:
    assert errors(tmp_path, energy, *options).startswith(place)


@pytest.mark.parametrize("option", ["energy.voltage=3.6", "energy.interval=1min"])
def test_a_wrong_value_is_not_reported_as_missing(tmp_path: Path, option: str) -> None:
    text = f'{EVERY}[energy]\nradio = "{RADIO}"\nbattery = "2.4 Ah"\nvoltage = "3.7 V"\n'
    reported = errors(tmp_path, text, option)
    assert option.split("=", maxsplit=1)[0] in reported
    assert "no voltage" not in reported
