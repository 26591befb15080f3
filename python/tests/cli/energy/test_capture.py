"""The energy of a capture as a user meets it."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_main import run
from wirelab.units import format_duration
from wirelab_energy import Packet, load_device, load_radio, per_day, radio_energy

MS = 1_000_000
RADIO = "nrf9160-nbiot"
ROWS = [
    {"at_ns": at * MS, "source": f"10.0.0.{ends[0]}", "destination": f"10.0.0.{ends[1]}", "uplink": True,
     "size_bytes": size}
    for at, ends, size in ((0, "12", 100), (700, "21", 60), (1500, "12", 1400), (1600, "32", 40))
]  # fmt: skip
SHORT = "2 packets left out: fewer bytes were captured than their headers take; capture with -s 100 or more"
PACKETS = [Packet(0, True, 100), Packet(700 * MS, False, 60), Packet(1500 * MS, True, 1400)]


@pytest.fixture
def capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that the agent is said to read as these rows, with a remark."""
    agent = tmp_path / "agent"
    agent.write_text(
        "#!/usr/bin/env python3\nimport sys\nassert sys.argv[1] == 'capture'\n"
        "if sys.argv[3].endswith('.txt'):\n    sys.exit('is neither pcap nor pcapng')\n"
        "sys.stderr.write('captured in part: 1\\n')\n"
        f"if sys.argv[3].endswith('short.pcap'):\n    sys.stderr.write('{SHORT}\\n')\n    sys.exit()\n"
        f"print({chr(10).join(json.dumps(row) for row in ROWS)!r})\n"
    )
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("WIRELAB_AGENT", str(agent))
    for name in ("short.pcap", "a.pcap"):
        (path := tmp_path / name).touch()
    return path


def reported(capture: Path, *more: str) -> dict[str, Any]:
    code, out, err = run("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.1", "--format", "json", *more)
    assert (code, err) == (0, "")
    return dict(json.loads(out))


def test_the_energy_is_the_models_of_the_clients_packets(capture: Path) -> None:
    found = reported(capture)
    energy = radio_energy(load_radio(RADIO), PACKETS, 0, 1500 * MS)
    assert found["joules"] == pytest.approx(
        {"low": energy.joules.low, "typical": energy.joules.typical, "high": energy.joules.high}
    )
    assert (found["packets"], found["bytes"]) == ({"up": 2, "down": 1}, {"up": 1500, "down": 60})
    assert found["states"].keys() == energy.states.keys()
    assert found["tail_s"] == pytest.approx(energy.tail_s)
    assert (found["day"], found["battery_days"]) == (None, None)
    assert found["notes"][:2] == ["captured in part: 1", "packets of others: 1, left out"]
    assert all(each["source"] for each in found["radio"]["sources"])


def test_a_clock_that_goes_back_is_noted_for_people_and_in_json(capture: Path) -> None:
    agent = Path(os.environ["WIRELAB_AGENT"])
    # An hour and the 700 ms of the second packet.
    agent.write_text(agent.read_text().replace('"at_ns": 0,', '"at_ns": 3600700000000,'))
    note = "time goes back by 1 h at packet 2; sorted by time"
    assert note in reported(capture)["notes"]
    code, _, err = run("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.1")
    assert (code, note in err.splitlines()) == (0, True)


def test_inputs_change_it_and_an_interval_makes_a_day_and_a_battery_its_life(capture: Path) -> None:
    more = ("--interval", "15min", "--battery", "2400 mAh", "--voltage", "3.7 V", "--device", "nrf9160")
    found = reported(capture, *more, "--set", "inactivity=1s")
    radio = load_radio(RADIO).with_inputs({"inactivity": "1s"})
    energy = radio_energy(radio, PACKETS, 0, 1500 * MS)
    day = per_day(radio, load_device("nrf9160"), energy, 900)
    assert found["radio"]["inputs"]["inactivity"] == "1s"
    assert found["joules"]["typical"] == pytest.approx(energy.joules.typical)
    assert found["joules"]["typical"] < reported(capture)["joules"]["typical"]
    assert found["day"]["total_j"]["typical"] == pytest.approx(day.total_j.typical)
    assert found["battery_days"]["typical"] == pytest.approx(2.4 * 3600 * 3.7 / day.total_j.typical)


def test_notes_say_what_is_modelled_and_that_no_processor_is_in_it(capture: Path) -> None:
    words = ("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.1", "--device", "nrf9160")
    code, out, err = run(*words, "--interval", "15min", "--battery", "2400 mAh", "--voltage", "3.7 V")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "a.pcap: 10.0.0.1 sent 2 packets (1.5 kB), got 1 packet (60 B) in 1.5 s"
    assert lines[1].startswith(f"radio   {load_radio(RADIO).label}: ")
    assert any(line.startswith("a day   of it every 15 min: ") for line in lines)
    assert lines[-1].startswith("battery 2400 mAh at 3.7 V: ")
    assert "CPU time on this machine says nothing of another device's processor" in err
    assert f"Sources: wirelab describe radio {RADIO}" in err
    assert ("unvalidated" in err) == (not load_radio(RADIO).validated)


def test_by_a_radio_whose_constants_are_exact_neither_energy_nor_a_batterys_life_has_a_range(
    capture: Path, tmp_path: Path
) -> None:
    radio = tmp_path / "mine.toml"
    radio.write_text(
        'machine = "ethernet"\n[supply]\nvoltage = "1 V"\n[rate]\nline = "8 kbit/s"\n'
        '[power]\ntransmit = "3 W"\nreceive = "2 W"\nidle = "1 W"\n'
    )
    words = ("energy", str(capture), "--radio", str(radio), "--client", "10.0.0.1", "--interval", "15min")
    code, out, err = run(*words, "--battery", "2400 mAh", "--voltage", "3.7 V")
    assert (code, "[" in out.replace("[least, most]", "")) == (0, False), (out, err)
    assert out.splitlines()[-1].endswith(" days")


def test_cpu_time_of_the_device_is_energy_of_capture_day_and_battery(capture: Path) -> None:
    more = ("--device", "raspberry-pi-3", "--interval", "15min", "--battery", "2400 mAh", "--voltage", "3.7 V")
    without, found = reported(capture, *more), reported(capture, *more, "--cpu-time", "12 ms")
    cpu_j = load_device("raspberry-pi-3").cpu_joules(0.012)
    expected = {"low": cpu_j.low, "typical": cpu_j.typical, "high": cpu_j.high}
    assert found["states"]["processor"] == pytest.approx({"seconds": 0.012, **expected})
    assert (without["cpu_time_s"], without["measured_on_device"]) == (None, False)
    assert (found["cpu_time_s"], found["measured_on_device"]) == (0.012, True)
    for bound, joules in expected.items():
        assert found["joules"][bound] == pytest.approx(without["joules"][bound] + joules)
        assert found["day"]["total_j"][bound] == pytest.approx(without["day"]["total_j"][bound] + 96 * joules)
        assert found["day"]["cpu_j"][bound] == pytest.approx(96 * joules)
    assert without["day"]["cpu_j"] is None
    assert found["battery_days"]["typical"] < without["battery_days"]["typical"]


def test_notes_have_the_processors_part_and_on_which_devices_power_it_rests(capture: Path) -> None:
    words = ("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.1", "--device", "raspberry-pi-3")
    code, out, err = run(*words, "--interval", "15min", "--cpu-time", "1 s")
    assert code == 0
    assert "; the radio " in out
    assert ", the processor 181 mJ" in out.splitlines()[3]
    assert any(line.split()[:3] == ["processor", "1", "s"] for line in out.splitlines())
    assert ", its processor's work 17.4 J\n" in out
    assert "raspberry-pi-3 has what computing takes beyond sleep by itself (0.181 W): the range of its sleep" in err
    assert "CPU time on this machine" not in err
    assert "times what raspberry-pi-3 (unvalidated) takes beyond sleep" in err


def test_a_chip_that_is_radio_and_processor_is_said_to_count_twice_perhaps(capture: Path) -> None:
    assert not any("one chip" in note for note in reported(capture, "--device", "esp32", "--cpu-time", "1 s")["notes"])
    found = reported(capture, "--device", "nrf9160", "--cpu-time", "1 s")
    assert any(note.startswith(f"{RADIO} and nrf9160 are one chip: ") for note in found["notes"])


def test_a_radio_that_is_slower_than_the_capture_is_said_to_be(capture: Path) -> None:
    # A connection is set up for longer than the capture's 1.5 s.
    energy = radio_energy(load_radio(RADIO), PACKETS, 0, 1500 * MS)
    over_ns = energy.settled_ns - energy.tail_s * 1e9 - 1500 * MS
    expected = f"the radio is slower than the capture: it would have ended {format_duration(over_ns)} later"
    assert over_ns > 1000 * MS
    assert expected in reported(capture)["notes"]
    code, _, err = run("energy", str(capture), "--radio", "esp32-wifi", "--client", "10.0.0.1")
    assert code == 0
    assert "slower" not in err


def test_csv_has_a_row_for_the_processor(capture: Path) -> None:
    words = ("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.1", "--format", "csv")
    code, out, _ = run(*words, "--device", "raspberry-pi-3", "--cpu-time", "12 ms")
    assert code == 0
    *states, total = list(csv.DictReader(io.StringIO(out)))
    assert (states[-1]["state"], states[-1]["seconds"], states[-1]["validated"]) == ("processor", "0.012", "false")
    assert sum(float(row["typical_j"]) for row in states) == pytest.approx(float(total["typical_j"]))


def test_csv_has_a_row_for_each_state_and_they_add_up(capture: Path) -> None:
    code, out, _ = run("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.1", "--format", "csv")
    assert code == 0
    *states, total = list(csv.DictReader(io.StringIO(out)))
    assert total["state"] == "total"
    assert sum(float(row["typical_j"]) for row in states) == pytest.approx(float(total["typical_j"]))
    assert sum(float(row["seconds"]) for row in states) == pytest.approx(float(total["seconds"]), rel=1e-6)
    assert {row["validated"] for row in [*states, total]} == {str(load_radio(RADIO).validated).lower()}


def test_csv_has_rows_for_the_day_and_the_battery_that_were_asked_for(capture: Path) -> None:
    words = ("--interval", "15min", "--battery", "2Ah", "--voltage", "3V", "--device", "raspberry-pi-3")
    words = (*words, "--cpu-time", "12 ms")
    found = reported(capture, *words)
    call = ("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.1", "--format", "csv")
    rows = {row["state"]: row for row in csv.DictReader(io.StringIO(run(*call, *words)[1]))}
    assert list(rows)[-6:] == ["total", "day-radio", "day-sleep", "day-processor", "day-total", "battery"]
    for name, key in (("radio", "radio_j"), ("sleep", "sleep_j"), ("processor", "cpu_j"), ("total", "total_j")):
        joules = {bound: float(rows[f"day-{name}"][f"{bound}_j"]) for bound in ("low", "typical", "high")}
        assert joules == pytest.approx(found["day"][key])
    assert float(rows["day-processor"]["seconds"]) == pytest.approx(96 * 0.012)
    battery = rows["battery"]
    days = {bound: float(battery[f"{bound}_days"]) for bound in ("low", "typical", "high")}
    assert days == pytest.approx(found["battery_days"])
    assert (battery["seconds"], battery["typical_j"], rows["total"]["typical_days"]) == ("", "", "")
    alone = {row["state"] for row in csv.DictReader(io.StringIO(run(*call, "--interval", "15min")[1]))}
    assert {each for each in alone if each.startswith(("day", "battery"))} == {"day-radio", "day-total"}


def test_cpu_time_that_is_longer_than_the_capture_is_reported(capture: Path) -> None:
    def of(cpu_time: str) -> list[str]:
        notes = reported(capture, "--device", "raspberry-pi-3", "--cpu-time", cpu_time)["notes"]
        return [note for note in notes if "longer than the capture" in note]

    [note] = of("12 h")
    assert note.startswith("the CPU time (12 h) is longer than the capture (1.5 s): ")
    assert of("1.5 s") == []


def test_a_client_that_is_not_there_and_a_file_that_is_no_capture_are_refused(capture: Path) -> None:
    code, out, err = run("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.9")
    assert (code, out) == (2, "")
    assert err.startswith(f"{capture}: has no packet of 10.0.0.9\nhint: its addresses, the busiest first: 10.0.0.2")
    text = capture.with_suffix(".txt")
    text.touch()
    code, _, err = run("energy", str(text), "--radio", RADIO, "--client", "10.0.0.1")
    assert (code, err.splitlines()[0]) == (2, f"{text}: is neither pcap nor pcapng")


def test_an_agent_that_is_not_there_is_not_the_captures_fault(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIRELAB_AGENT", "/nowhere/agent")
    _, _, err = run("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.1")
    assert err.startswith("error: WIRELAB_AGENT is '/nowhere/agent', which is not an executable file")
    assert "hint: unset WIRELAB_AGENT" in err
    assert "tcpdump" not in err


def test_an_interval_shorter_than_the_message_is_refused(capture: Path) -> None:
    words = ("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.1")
    code, _, err = run(*words, "--interval", "1s")
    assert code == 2
    assert "an interval of 1 s is shorter than the message" in err


def test_what_was_left_out_is_the_hint_of_a_capture_of_which_nothing_is_left(capture: Path) -> None:
    short = capture.with_name("short.pcap")
    code, out, err = run("energy", str(short), "--radio", RADIO, "--client", "10.0.0.1")
    assert (code, out, err) == (2, "", f"{short}: has no IP packets that can be read\nhint: {SHORT}\n")
    code, out, err = run("energy", str(capture), "--radio", RADIO, "--client", "10.0.0.9")
    assert (code, "captured in part" in err) == (2, False)
