"""The energies of a campaign, for the terminal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.report.campaigns import EXCHANGES, read, store, write
from wirelab.cli.energy_summary import MOST_ROWS, energy_lines, energy_table
from wirelab.report.campaign import Campaign, load

MODEL = {"radio": {"name": "r", "validated": False}, "device": {"name": "d", "validated": True}}
BOUNDS = {"low": 1e-3, "typical": 2e-3, "high": 4e-3}
BACK_TO_BACK = "exchanges ran back to back: no message has a gap behind it"


def energy(joules: float | None = None, days: float | None = None) -> dict[str, Any]:
    """Of messages that take so much with their intervals."""
    interval = None if joules is None else dict.fromkeys(BOUNDS, joules)
    return {
        "exchanges": 4, "trials": 1, "radio_j": BOUNDS, "message_j": None, "states": {}, "day_states": None,
        "interval_j": interval, "day_j": interval and dict.fromkeys(BOUNDS, 144 * interval["typical"]),
        "battery_days": days and {"low": days / 2, "typical": days, "high": 2 * days},
    }  # fmt: skip


def campaign(folder: Path, *energies: dict[str, Any], **model: Any) -> Campaign:
    write(folder, links=("clean",))
    estimates = read(folder, "estimates.json")
    for scenario, each in zip(estimates["scenarios"], energies, strict=False):
        scenario["energy"] = each
        scenario["denominators"] |= {"completed": EXCHANGES, "failed": 0}
    store(folder, "estimates.json", {**estimates, "energy": MODEL | model} if energies else estimates)
    return load(folder, folder)


def test_nothing_is_said_without_a_radio(tmp_path: Path) -> None:
    assert list(energy_lines(campaign(tmp_path))) == []


def test_no_model_is_named_if_no_link_has_a_radio(tmp_path: Path) -> None:
    assert list(energy_lines(campaign(tmp_path, energy(), radios=[]))) == []


def test_the_least_energy_comes_first_and_the_model_is_named(tmp_path: Path) -> None:
    found = campaign(tmp_path, energy(0.5, 403.0), energy(0.25, 806.0))
    table, model = energy_lines(found)
    head, first, second = table.splitlines()
    names = [scenario.name for scenario in found.scenarios]
    assert head.split("  ")[0] == "energy [range]"
    assert first.startswith(names[1])
    assert first.endswith("250 mJ   36 J  806 [403, 1,612] days                  40/40")
    assert second.startswith(names[0])
    assert second.endswith("500 mJ   72 J    403 [202, 806] days                  40/40")
    assert model == "Energy is not measured but modelled, of the packets that flowed: r (unvalidated), d."


def test_a_scenario_that_did_not_complete_everything_comes_last_with_its_count(tmp_path: Path) -> None:
    campaign(tmp_path, energy(0.5, 403.0), energy(0.25, 806.0))
    estimates = read(tmp_path, "estimates.json")
    estimates["scenarios"][1]["denominators"] |= {"completed": 1, "timed-out": EXCHANGES - 1}
    store(tmp_path, "estimates.json", estimates)
    [table] = energy_table(load(tmp_path, tmp_path))
    assert [line.split()[-1] for line in table.splitlines()[1:]] == ["40/40", "1/40"]


def test_without_a_gap_the_reason_stands_in_place_of_the_battery_life(tmp_path: Path) -> None:
    write(tmp_path, links=("clean",))
    keys = [each["key"] for each in json.loads((tmp_path / "plan.json").read_text())["scenarios"]]
    lines = list(energy_lines(campaign(tmp_path, energy(), energy(), no_day=dict.fromkeys(keys, BACK_TO_BACK))))
    assert lines[1:] == [f"No day's energy and no battery life: {BACK_TO_BACK}."]


def test_a_message_without_a_battery_has_a_dash_and_long_tables_are_the_reports(tmp_path: Path) -> None:
    found = campaign(tmp_path, energy(0.5))
    [table] = energy_table(found)
    assert table.splitlines()[1].split()[-2:] == ["–", "40/40"]
    many = replace(found, scenarios=found.scenarios[:1] * (MOST_ROWS + 2))
    table, more = energy_table(many)
    assert len(table.splitlines()) == MOST_ROWS + 1
    assert more == "2 more scenarios are in the report."
