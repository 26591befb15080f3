"""`[energy]` of an experiment file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.cli.arguments import load
from wirelab.errors import WirelabError
from wirelab.plan import make_plan

RADIO = "enc28j60-ethernet"
TEXT = """
title = "t"
[factors]
protocol = ["raw-tcp"]
[workload]
upload = "30 B"
"""


def written(folder: Path, energy: str = "") -> str:
    path = folder / "t.toml"
    path.write_text(TEXT + energy)
    return str(path)


def errors(folder: Path, energy: str, *sets: str) -> str:
    with pytest.raises(WirelabError) as error:
        load(written(folder, energy), sets)
    return str(error.value).replace(f"{folder}/", "")


def test_a_radio_changes_no_scenario_and_no_trial(tmp_path: Path) -> None:
    without = make_plan(load_experiment(written(tmp_path)))
    text = '[energy]\nradio = "enc28j60-ethernet"\ninterval = "15 min"\nbattery = "2.4 Ah"\nvoltage = "3.7 V"\n'
    plan = make_plan(load(written(tmp_path, text), ()))
    assert plan.scenarios == without.scenarios
    assert plan.blocks == without.blocks
    energy = plan.to_json()["experiment"]["energy"]
    assert energy == {
        "radio": "enc28j60-ethernet", "inputs": {}, "device": None, "measured_on_device": False,
        "interval_ns": 900 * 10**9, "battery_mah": 2400.0, "battery_v": 3.7,
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
    plan = make_plan(load(written(tmp_path), ("energy.radio=enc28j60-ethernet", "energy.interval=1min")))
    assert len(plan.scenarios) == 1
    assert plan.experiment.energy is not None
    assert plan.experiment.energy.interval_ns == 60 * 10**9


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
        (RADIO, 'interval = "0 s"', "9:1: energy.interval: must be more than 0"),
    ],
)
def test_an_error_in_the_energy_table_is_reported_at_its_key(
    tmp_path: Path, radio: str, more: str, expected: str
) -> None:
    assert errors(tmp_path, f'[energy]\nradio = "{radio}"\n{more}\n').startswith(f"t.toml:{expected}")


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


@pytest.mark.parametrize("option", ["energy.voltage=3.6", "energy.interval=-1s"])
def test_a_wrong_value_is_not_reported_as_missing(tmp_path: Path, option: str) -> None:
    text = f'[energy]\nradio = "{RADIO}"\ninterval = "15 min"\nbattery = "2.4 Ah"\nvoltage = "3.7 V"\n'
    reported = errors(tmp_path, text, option)
    assert option.split("=", maxsplit=1)[0] in reported
    assert "no voltage" not in reported
    assert "no interval" not in reported
