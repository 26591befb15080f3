"""Settings that were given, as the report tells of them, and charts without what was not in force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.report.campaigns import read, store, write
from wirelab.report.blocks import Figure, Group, Items, Prose, Table
from wirelab.report.campaign import load
from wirelab.report.ranking import ranked
from wirelab.report.sections import delays, glance, phases, wire
from wirelab.report.settings_in_force import settings_in_force

TABLE = "header-table-size"
CONFIRMED = {
    "setting": TABLE, "configured": 65_536, "unit": "bytes", "end": "client", "announced": [65_536, 65_536],
    "effective": [4096, 4096], "used": None, "source": "client", "trials": 2, "connections": 9, "in_force": False,
    "why": "4096 held in its place",
}  # fmt: skip
KEPT = CONFIRMED | {"configured": 512, "announced": [512, 512], "effective": [512, 512], "in_force": True, "why": None}
UNSEEN = {
    **CONFIRMED, "end": None, "announced": None, "effective": None, "source": None, "trials": 0, "connections": 0,
    "in_force": None, "why": "nothing tells",
}  # fmt: skip


def campaign(folder: Path, *rows: list[dict[str, Any]]) -> Any:
    """Its first scenarios have these settings."""
    write(folder, links=("clean",))
    estimates = read(folder, "estimates.json")
    for scenario, given in zip(estimates["scenarios"], rows, strict=False):
        scenario["settings"] = given
    store(folder, "estimates.json", estimates)
    return load(folder, folder)


def test_without_given_settings_nothing_is_reported(tmp_path: Path) -> None:
    assert settings_in_force(campaign(tmp_path)) == []


def test_a_setting_not_in_force_is_reported_with_the_actual_value_and_its_place(tmp_path: Path) -> None:
    found = campaign(tmp_path, [CONFIRMED, KEPT, UNSEEN])
    said, listed, every = settings_in_force(found)
    assert isinstance(said, Prose)
    assert "1 scenario is not measured as configured" in said.text
    assert isinstance(listed, Items)
    name = found.scenarios[0].name
    assert listed.items == [f"{name}: {TABLE} of the client: configured 65536 B, 4096 held in its place"]
    assert isinstance(every, Group)
    [table] = every.blocks
    assert isinstance(table, Table)
    held, kept, unseen = [[cell.text for cell in row[1:]] for row in table.rows]
    assert held == [TABLE, "client", "65536 B", "65536 B", "4096 B", "–", "no", "the client", "9"]
    assert kept[-3:] == ["yes", "the client", "9"]
    assert unseen[1:] == ["–", "65536 B", "–", "–", "–", "not known", "–", "0"]


def test_a_scenario_with_settings_not_in_force_is_in_no_chart_and_never_the_lowest_delay(tmp_path: Path) -> None:
    plain, held = campaign(tmp_path / "plain", [KEPT]), campaign(tmp_path / "confirmed", [CONFIRMED])
    label = plain.scenarios[0].series.label
    for build in (glance.section, delays.section, phases.section, wire.section):
        drawn, without = (
            "".join(
                str(figure.svg) for block in (build(each) or glance.section(each)).blocks for figure in figures(block)
            )
            for each in (plain, held)
        )
        assert len(without) < len(drawn), build
    assert f"Not drawn: {label} (a setting was not in force; section Emulation accuracy names it)." in str(
        wire.section(held)
    )
    assert held.scenarios[0] not in ranked(held, held.scenarios)
    assert len(ranked(plain, plain.scenarios)) == len(ranked(held, held.scenarios)) + 1


def figures(block: Any) -> list[Figure]:
    """Also charts side by side."""
    return [block] if isinstance(block, Figure) else list(getattr(block, "figures", []))
