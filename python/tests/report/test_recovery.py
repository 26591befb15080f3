"""The section on outages, and the lines of the terminal."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from tests.report import campaigns
from tests.report.campaigns import read, store
from wirelab.cli import summary
from wirelab.report.blocks import Prose, Table
from wirelab.report.campaign import Campaign, load
from wirelab.report.sections import recovery

write = partial(campaigns.write, protocols=("https1", "h2"))
RECORD: dict[str, Any] = {
    "what": ["server"], "outages": 5, "not_met": 1, "not_recovered": 0,
    "recovery": {"least_s": 1.5, "median_s": 2.5, "most_s": 3.5},
    "affected": 24, "lost": 3, "late": 4, "attempts": 2.5, "energy_j": None, "forgets": True,
}  # fmt: skip


def campaign(folder: Path, **given: Any) -> Campaign:
    """A campaign in which one protocol had an outage."""
    write(folder)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        if scenario["key"].startswith("h2"):
            scenario["recovery"] = RECORD | given
    store(folder, "estimates.json", estimates)
    return load(folder, folder)


def test_an_outage_has_a_row_with_the_recovery_and_the_messages(tmp_path: Path) -> None:
    section = recovery.section(campaign(tmp_path))
    assert section is not None
    [table] = [block for block in section.blocks if isinstance(block, Table)]
    texts = [cell.text for cell in table.rows[0]]
    assert texts[2:12] == ["server", "5", "1", "0", "2.50", "3.50", "24", "3", "4", "2.50"]


def test_a_median_that_is_not_recovered_is_not_a_number(tmp_path: Path) -> None:
    times = {"least_s": 1.5, "median_s": None, "most_s": None}
    section = recovery.section(campaign(tmp_path, recovery=times, not_recovered=3))
    assert section is not None
    [table] = [block for block in section.blocks if isinstance(block, Table)]
    cells = table.rows[0][6:8]
    assert [cell.text for cell in cells] == ["–", "–"]
    assert all("not recovered in 3 of 5" in str(cell) for cell in cells)


def test_the_section_says_what_recovery_includes(tmp_path: Path) -> None:
    section = recovery.section(campaign(tmp_path))
    assert section is not None
    what = "Without a message that waits, recovery includes the time until the next message is due."
    assert any(isinstance(block, Prose) and what in str(block) for block in section.blocks)


def test_a_built_in_server_that_was_restarted_loses_its_sessions_and_a_link_does_not(tmp_path: Path) -> None:
    section = recovery.section(campaign(tmp_path / "a"))
    assert section is not None
    assert any(isinstance(block, Prose) and "in memory" in str(block) for block in section.blocks)
    other = recovery.section(campaign(tmp_path / "b", forgets=False, what=["link"]))
    assert other is not None
    assert not any(isinstance(block, Prose) and "in memory" in str(block) for block in other.blocks)


def test_without_an_outage_there_is_no_section_and_no_line(tmp_path: Path) -> None:
    write(tmp_path)
    found = load(tmp_path, tmp_path)
    assert recovery.section(found) is None
    assert summary.recovery_lines(found) == []


def test_the_terminal_has_a_line_for_each_scenario_with_an_outage(tmp_path: Path) -> None:
    found = campaign(tmp_path / "a")
    lines = summary.recovery_lines(found)
    assert len(lines) == sum(scenario.recovery is not None for scenario in found.scenarios)
    assert all(line.startswith("Outage  ") for line in lines)
    assert all(line.endswith(": recovered after 2.50 s, 3 of 24 messages lost, 4 late") for line in lines)
    lines = summary.recovery_lines(campaign(tmp_path / "b", recovery=None, not_recovered=5))
    assert all(line.endswith(": not recovered in 5 of 5 outages, 3 of 24 messages lost, 4 late") for line in lines)


def test_the_terminal_says_how_many_outages_had_no_recovery(tmp_path: Path) -> None:
    times = {"least_s": 1.5, "median_s": 2.5, "most_s": None}
    lines = summary.recovery_lines(campaign(tmp_path / "a", recovery=times, not_recovered=2))
    end = ": recovered after 2.50 s, 3 of 24 messages lost, 4 late, 2 of 5 outages without recovery"
    assert lines
    assert all(line.endswith(end) for line in lines)
    times["median_s"] = None
    lines = summary.recovery_lines(campaign(tmp_path / "b", recovery=times, not_recovered=3))
    assert all(": not recovered in 3 of 5 outages, 3 of 24" in line for line in lines)
