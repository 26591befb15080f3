"""The section on energy: what it says and what it refuses to say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.report.campaigns import read, store, write
from tests.report.html_checks import Page
from wirelab.report.blocks import Definitions, Figure, Group, Items, Legend, Prose, Section, Table
from wirelab.report.campaign import load
from wirelab.report.page import render
from wirelab.report.sections import energy

BOUNDS = {"low": 1e-3, "typical": 2e-3, "high": 4e-3}
SOURCES = [{"constant": "power.transmit", "value": "160 mA", "source": "a data sheet"}]
RADIO: dict[str, Any] = {
    "radio": {"name": "r", "title": "A radio", "validated": True, "inputs": {"inactivity": "5 s"}, "sources": SOURCES},
    "device": None, "battery": {"capacity_mah": 2400, "voltage_v": 3.7}, "notes": ["A note."],
}  # fmt: skip
PARTS = {
    "setup_j": BOUNDS, "messages_j": {name: 3 * joules for name, joules in BOUNDS.items()}, "closing_j": BOUNDS,
    "trial_j": {name: 5 * joules for name, joules in BOUNDS.items()},
}  # fmt: skip
NO_DAY = "exchanges ran back to back: no message has a gap behind it"


def spent(*states: str, day: bool = True) -> dict[str, Any]:
    shares = {state: {"seconds": 0.5, **BOUNDS} for state in states}
    return {
        "exchanges": 40, "trials": 2, "radio_j": BOUNDS, "message_j": None, "states": shares,
        "interval_s": 900.0 if day else None, "no_day": None if day else NO_DAY, "parts": PARTS,
        "interval_j": {name: 2 * joules for name, joules in BOUNDS.items()} if day else None,
        "setup_j": BOUNDS, "setups": 3,
        "day_j": {name: 100 * joules for name, joules in BOUNDS.items()} if day else None,
        "day_states": {**dict.fromkeys(shares, BOUNDS), "device asleep": BOUNDS} if day else None,
        "battery_days": {"low": 800.0, "typical": 1000.0, "high": 1200.0} if day else None,
    }  # fmt: skip


def shown(folder: Path, radio: dict[str, Any], *scenarios: dict[str, Any] | None) -> Section | None:
    write(folder, links=("clean",))
    estimates = read(folder, "estimates.json")
    mean = {"point": 2e-3, "low": 1.5e-3, "high": 2.5e-3, "level": 0.95, "n": 40, "method": "bootstrap"}
    for scenario, each in zip(estimates["scenarios"], scenarios, strict=True):
        if each is not None:
            scenario["energy"] = each
            scenario["metrics"] |= {
                f"{what}-energy": {"unit": "J", "n": 40, "mean": mean} for what in ("radio", "setup")
            }
    store(folder, "estimates.json", {**estimates, "energy": radio})
    return energy.section(load(folder, folder))


def of_kind(section: Section | None, kind: type[Any]) -> list[Any]:
    assert section is not None
    return [block for block in section.blocks if isinstance(block, kind)]


def table(section: Section | None) -> dict[str, list[str]]:
    [found] = of_kind(section, Figure)[0].tables
    rows = zip(*([cell.text for cell in row] for row in found.rows), strict=True)
    titles = [f"{index} {column.title}" for index, column in enumerate(found.columns)]
    return {title: list(column) for title, column in zip(titles, rows, strict=True)}


def test_a_campaign_without_a_radio_has_no_such_section(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert energy.section(load(folder, folder)) is None


def test_a_message_and_a_day_have_their_intervals_and_the_models_ranges(tmp_path: Path) -> None:
    section = shown(tmp_path, RADIO, spent("transmit", "receive"), spent("transmit"))
    found = table(section)
    assert found["2 an exchange by itself: mean [interval]"] == ["2.0 [1.5, 2.5]"] * 2
    assert found["3 range"] == ["1.00 to 4.00"] * 2
    assert found["5 range"] == ["2.00 to 8.00"] * 2
    assert found["6 a set-up: mean [interval]"] == ["2.0 [1.5, 2.5]"] * 2
    assert found["7 set-ups"] == ["3"] * 2
    assert found["9 range"] == ["0.100 to 0.400"] * 2
    assert found["10 battery [range]"] == ["1,000 [800, 1,200]"] * 2
    message, day = of_kind(section, Figure)
    assert "transmit 2 mJ" in str(message.svg)
    assert "device asleep 0.002 J" in str(day.svg)


def test_no_data_table_is_announced_where_there_is_none(tmp_path: Path) -> None:
    shown(tmp_path, RADIO, spent("transmit"), spent("transmit"))
    bare = [figure for figure in Page(render(load(tmp_path, tmp_path))).figures if not figure.get("table")]
    assert any("svg" in figure for figure in bare)
    assert not any("details" in figure for figure in bare)


def test_the_radio_its_inputs_its_sources_and_notes_are_reported(tmp_path: Path) -> None:
    section = shown(tmp_path, RADIO, spent("transmit"), None)
    assert section is not None
    assert section.title == "Energy of the client's radio"
    about = of_kind(section, Prose)[0].text
    assert "A radio (r). With inactivity 5 s." in about
    assert "A day has a message every 15 min." in about
    assert of_kind(section, Items)[0].items == ["A note."]
    [definitions] = of_kind(section, Group)[-1].blocks
    assert isinstance(definitions, Definitions)
    assert definitions.terms == [("r: power.transmit = 160 mA", "a data sheet")]


def test_an_unvalidated_radio_is_marked_in_the_title(tmp_path: Path) -> None:
    radio = {**RADIO, "radio": {**RADIO["radio"], "validated": False}}
    section = shown(tmp_path, radio, spent("transmit"), None)
    assert section is not None
    assert section.title == "Energy of the client's radio (unvalidated)"


def test_a_battery_life_with_equal_printed_bounds_has_no_range(tmp_path: Path) -> None:
    one = {**spent("transmit"), "battery_days": {"low": 1000.0 - 1e-9, "typical": 1000.0, "high": 1000.0 + 1e-9}}
    assert table(shown(tmp_path, RADIO, one, one))["10 battery [range]"] == ["1,000", "1,000"]


def test_a_trial_is_shown_by_what_it_spent_its_energy_on(tmp_path: Path) -> None:
    section = shown(tmp_path, RADIO, spent("transmit"), {**spent("transmit"), "parts": None})
    [parts] = of_kind(section, Group)[1].blocks
    [row] = parts.rows
    assert [cell.text for cell in row[2:7]] == ["2.00", "6.00", "2.00", "10.0", "5.00 to 20.00"]
    without = {**spent("transmit"), "parts": None}
    titles = [group.summary for group in of_kind(shown(tmp_path, RADIO, without, without), Group)]
    assert "A trial by what for" not in titles


def test_each_link_has_its_radio(tmp_path: Path) -> None:
    one = {"links": ["clean"], "radio": RADIO["radio"], "device": None}
    other = {"links": ["far", "farther"], "radio": {**RADIO["radio"], "name": "o", "validated": False}, "device": None}
    section = shown(tmp_path, {"radios": [one, other], "battery": None}, spent("transmit"), None)
    assert section is not None
    assert section.title == "Energy of the client's radio (unvalidated)"
    about = of_kind(section, Prose)[0].text
    assert "A radio (r) on clean. With inactivity 5 s. A radio (o) on far, farther." in about


def test_states_beyond_four_are_drawn_as_one(tmp_path: Path) -> None:
    section = shown(tmp_path, RADIO, spent("a", "b", "c", "d", "e", "f"), None)
    legend = of_kind(section, Legend)[0]
    assert [entry.text for entry in legend.entries] == ["a", "b", "c", "d", "other states"]
    assert "other states 4 mJ" in str(of_kind(section, Figure)[0].svg)


def test_without_a_gap_the_reason_stands_in_place_of_the_day(tmp_path: Path) -> None:
    radio = {**RADIO, "battery": None}
    section = shown(tmp_path, radio, spent("transmit", day=False), spent("transmit", day=False))
    [figure] = of_kind(section, Figure)
    assert figure.tables[0].left_out == (
        f"Columns left out: a message with its interval: mean, range, a day: mean, range ({NO_DAY}); "
        "battery [range] (no battery is given)"
    )


def test_scenarios_with_settings_not_in_force_are_in_the_table_and_in_no_chart(tmp_path: Path) -> None:
    shown(tmp_path, RADIO, spent("transmit"), spent("receive"))
    estimates = read(tmp_path, "estimates.json")
    estimates["scenarios"][1]["settings"] = [{"in_force": False}]
    store(tmp_path, "estimates.json", estimates)
    section = energy.section(load(tmp_path, tmp_path))
    assert table(section)["3 range"] == ["1.00 to 4.00"] * 2
    figures = of_kind(section, Figure)
    assert len(figures) == 2
    for figure in figures:
        assert "transmit" in figure.svg
        assert "receive" not in figure.svg
        assert "Not drawn: h2 (a setting was not in force; section Emulation accuracy names it)." in figure.caption
    assert [[entry.text for entry in legend.entries] for legend in of_kind(section, Legend)] == [
        ["transmit"], ["transmit", "device asleep"],
    ]  # fmt: skip


def test_a_scenario_without_energy_is_named(tmp_path: Path) -> None:
    section = shown(tmp_path, RADIO, spent("transmit"), None)
    assert of_kind(section, Figure)[0].caption == (
        "Typical constants. Not drawn: h2 (no completed exchange with known packets)."
    )


def measured(*states: str) -> dict[str, Any]:
    """The processor's range is none but for rounding."""
    known = spent(*states, "processor")
    known["states"]["processor"] |= {"low": 2e-3 - 1e-18, "high": 2e-3 + 1e-18}
    message = {name: 2 * joules for name, joules in BOUNDS.items()}
    return {**known, "message_j": message, "with_cpu_time": {"exchanges": 20, "trials": 1}}


def test_a_processor_with_measured_time_is_in_title_table_and_charts(tmp_path: Path) -> None:
    device = {"name": "d", "title": "A device", "validated": False, "sources": SOURCES}
    radio = {**RADIO, "device": device, "measured_on_device": True}
    unknown = {**spent("transmit", day=False), "with_cpu_time": {"exchanges": 0, "trials": 0}}
    section = shown(tmp_path, radio, measured("transmit"), unknown)
    assert section is not None
    assert section.title == "Energy of the client's radio and processor (unvalidated)"
    about = of_kind(section, Prose)[0].text
    assert about.startswith("Modelled from the measured packets and of the client's CPU time: A radio (r).")
    assert "The device around it, which computes and sleeps: A device (unvalidated)." in about
    figure = of_kind(section, Figure)[0]
    assert "processor 2 mJ" in str(figure.svg)
    assert figure.caption == (
        "Typical constants. Not drawn: h2 (the client's CPU time, or its idle cost, is not known)."
    )
    found = table(section)
    assert found["3 range"] == ["1.00 to 4.00"] * 2
    assert found["5 range"] == ["2.00 to 8.00", "–"]
    assert found["12 battery [range]"] == ["1,000 [800, 1,200]", "–"]
    assert (found["13 exchanges"], found["15 exchanges with CPU time"]) == (["40", "40"], ["20", "0"])
    [states] = of_kind(section, Group)[0].blocks
    assert [row[2].text for row in states.rows] == ["transmit", "processor", "transmit"]
    assert [row[5].text for row in states.rows] == ["1.00 to 4.00", "2.00", "1.00 to 4.00"]


def test_without_a_known_processor_there_is_only_the_table(tmp_path: Path) -> None:
    device = {"name": "d", "title": "A device", "validated": True, "sources": SOURCES}
    unknown = {**spent("transmit", day=False), "with_cpu_time": {"exchanges": 0, "trials": 0}}
    section = shown(tmp_path, {**RADIO, "device": device, "measured_on_device": True}, unknown, unknown)
    assert not of_kind(section, Figure)
    assert not of_kind(section, Legend)
    assert of_kind(section, Table)
