"""An overload is named by both rates, and its delays stand nowhere."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.report import campaigns
from tests.report.campaigns import read, store
from tests.report.html_checks import Page
from wirelab.cli import summary
from wirelab.report import page
from wirelab.report.answer import answer
from wirelab.report.blocks import Section, Table
from wirelab.report.campaign import Campaign, load
from wirelab.report.grade import grade, reasons
from wirelab.report.missing import why_missing
from wirelab.report.ranking import ranked
from wirelab.report.sections import comparisons, delays, glance, lowest_delay, offered, phases

write = partial(campaigns.write, protocols=("https1", "h2"))
SLOPE = {"point": 4.1, "low": 4.0, "high": 4.2, "level": 0.95, "n": 2, "method": "made up"}
KEEPS_UP: dict[str, Any] = {
    "offered_hz": 50.0, "served_hz": 50.0, "slope": {**SLOPE, "point": 0.0, "low": -0.01, "high": 0.01},
    "keeps_up": True, "limit": "none", "why": "", "cure": None, "flag": "good",
    "ends": {"client": {"cpu": 0.01, "waited": 0.0}, "server": {"cpu": None, "waited": None}},
}  # fmt: skip
PLACES: dict[str, Any] = {
    **KEEPS_UP, "served_hz": 9.8, "slope": SLOPE, "keeps_up": False, "limit": "places",
    "why": "at most 1 message at a time, each takes 102 ms", "cure": "raise workload.concurrency to 6",
    "growth": {"places": 1.0, "late": 0.0, "inside": 0.0},
}  # fmt: skip
CLIENT: dict[str, Any] = {
    **PLACES, "limit": "client", "why": "the client used 97% of a CPU", "cure": "offer less", "flag": "unusable",
}  # fmt: skip
RATES = "50 /s offered, 9.8 /s served"


def overloaded(folder: Path, record: dict[str, Any] = PLACES, *, protocol: str = "h2", **given: Any) -> Campaign:
    """A campaign in which one protocol does not keep up, and the others do."""
    write(folder, **given)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        scenario["offered"] = record if scenario["key"].startswith(protocol) else KEEPS_UP
    estimates["comparisons"] = [
        each for each in estimates["comparisons"] if not any(each[side].startswith(protocol) for side in ("a", "b"))
    ]
    store(folder, "estimates.json", estimates)
    return load(folder, folder)


def said(campaign: Campaign) -> str:
    return "\n".join(line.strip() for statement in answer(campaign) for line in statement.lines())


def tables(section: Section | None) -> list[Table]:
    assert section is not None
    found = [block for block in section.blocks if isinstance(block, Table)]
    return found + [table for block in section.blocks for table in getattr(block, "tables", [])]


def test_the_answer_has_both_rates_and_no_ratio(tmp_path: Path) -> None:
    words = said(overloaded(tmp_path, links=("clean",)))
    sentence = f"h2: {RATES} (at most 1 message at a time, each takes 102 ms)."
    assert f"{sentence} Delays grow without end and are not compared.\nFix: raise workload.concurrency to 6." in words
    assert "times as long" not in words
    assert "clean: the median of https1 is 40.0 ms" in words
    assert "h2 has no median: more was offered than was served." in words


def test_of_several_scenarios_of_a_protocol_each_is_named_and_of_many_their_number(tmp_path: Path) -> None:
    few = said(overloaded(tmp_path / "few"))
    assert f"h2, clean, 30 B, 20 ms: {RATES}" in few
    many = said(overloaded(tmp_path / "many", factors={"link.rtt": ("1 ms", "2 ms", "3 ms", "4 ms")}))
    assert "h2: more was offered than was served in 8 of 8 scenarios. Delays grow without end" in many
    assert RATES not in many


def test_the_terminal_shows_the_rates_instead_of_a_median(tmp_path: Path) -> None:
    table, why = summary.tables(overloaded(tmp_path, links=("clean",)))
    [row] = [line for line in table.splitlines() if line.startswith("h2")]
    assert RATES in row
    assert "ms" not in row
    assert "– p95 of h2: more was offered than was served" in why.splitlines()


def test_the_section_says_what_limits(tmp_path: Path) -> None:
    campaign = overloaded(tmp_path, links=("clean",))
    [table] = tables(offered.section(campaign))
    rows = {row[1].text: [cell.text for cell in row[2:]] for row in table.rows}
    assert rows["h2"][:2] == ["50 /s", "9.8 /s"]
    assert rows["h2"][3] == "places: at most 1 message at a time, each takes 102 ms"
    assert rows["h2"][4:7] == ["100", "0", "0"]
    assert rows["https1"][:2] == ["50 /s", "50 /s"]
    assert rows["https1"][3] == "–"
    assert offered.section(load(write(tmp_path / "closed"), tmp_path)) is None


def test_its_delays_are_neither_shown_nor_ranked(tmp_path: Path) -> None:
    campaign = overloaded(tmp_path, links=("clean",))
    slow = next(each for each in campaign.scenarios if each.series.protocol == "h2")
    assert slow.estimate("end-to-end-delay", "median") is None
    assert slow.estimate("wire-up-bytes", "mean") is not None, "bytes are no delay"
    assert why_missing(slow, "end-to-end-delay") == "more was offered than was served"
    assert slow not in ranked(campaign, campaign.scenarios)
    [table] = tables(glance.section(campaign))
    [row] = [row for row in table.rows if row[1].text == "h2"]
    assert {cell.text for cell in row[2:6]} == {"–"}
    assert "Not drawn: h2 (more was offered than was served)." in str(phases.section(campaign))
    drawn = str(delays.section(campaign))
    assert "https1: 50% within" in drawn or "https1" in drawn
    assert "h2: 50% within" not in drawn


def test_comparisons_name_what_is_left_out(tmp_path: Path) -> None:
    campaign = overloaded(tmp_path, protocols=("raw-tcp", "https1", "h2"), links=("clean",))
    assert "Delays and energies not compared, since more was offered than was served: h2, clean, 30 B, 20 ms." in str(
        comparisons.section(campaign)
    )


def test_no_map_has_it(tmp_path: Path) -> None:
    factors = {"link.rtt": ("10 ms", "20 ms"), "workload.upload": ("30 B", "60 B")}
    campaign = overloaded(tmp_path, protocols=("https1", "h2", "h3"), links=("clean",), factors=factors)
    section = lowest_delay.section(campaign)
    found = [cell.text for table in tables(section) for row in table.rows for cell in row]
    assert "https1" in found
    assert "h2" not in found


@pytest.mark.parametrize(("record", "flag"), [(PLACES, "good"), (CLIENT, "unusable")])
def test_a_limit_of_our_own_client_is_unusable(record: dict[str, Any], flag: str, tmp_path: Path) -> None:
    campaign = overloaded(tmp_path, record, links=("clean",))
    assert grade(campaign) == flag
    unusable = "unusable, the machine: h2, clean, 30 B, 20 ms: the client used 97% of a CPU; offer less."
    assert (unusable in reasons(campaign.estimates)) == (flag == "unusable")


def test_a_campaign_with_an_overload_alone_has_a_page(tmp_path: Path) -> None:
    overloaded(tmp_path, protocols=("h2",))
    text = page.render(load(tmp_path, tmp_path))
    assert RATES in text
    assert "There is no delay to draw here: more was offered than was served." in Page(text).words()
