"""Recovery from outages, as the answer's sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.report.campaigns import read, store, write
from tests.report.test_recovery import RECORD
from wirelab.report.answer import answer
from wirelab.report.campaign import Campaign, load
from wirelab.report.outages import recoveries
from wirelab.report.smallest_median import MOST_CONDITIONS

TIMES = {"least_s": 1.5, "median_s": 9.5, "most_s": 30.5}


def campaign(folder: Path, links: tuple[str, ...] = ("clean",), **of: dict[str, Any]) -> Campaign:
    """A campaign with an outage in each scenario; `of` has what differs for a protocol."""
    write(folder, protocols=("https1", "h2"), links=links)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        scenario["recovery"] = RECORD | of.get(scenario["key"].split("-")[0], {})
    store(folder, "estimates.json", estimates)
    return load(folder, folder)


def sentences(found: Campaign) -> list[str]:
    return [line for each in recoveries(found) for line in each.lines()]


def test_the_shortest_and_the_longest_recovery_are_named_with_what_was_lost(tmp_path: Path) -> None:
    assert sentences(campaign(tmp_path, h2={"recovery": TIMES, "lost": 0})) == [
        "clean: the median recovery from an outage takes 2.50 s (https1) to 9.50 s (h2); 3 of 48 affected messages "
        "were lost and 8 came late.",
        "  Lost: https1 3 of 24.",
    ]


def test_recoveries_that_are_alike_have_one_number(tmp_path: Path) -> None:
    found = campaign(tmp_path, h2={"lost": 0}, https1={"lost": 0})
    [line] = sentences(found)
    assert line.startswith(
        "clean: the median recovery from an outage takes 2.50 s; 0 of 48 affected messages were lost"
    )


def test_protocols_that_did_not_recover_are_named(tmp_path: Path) -> None:
    found = campaign(tmp_path, h2={"recovery": None, "not_recovered": 5, "lost": 24}, https1={"lost": 0})
    assert sentences(found) == [
        "clean: the median recovery from an outage takes 2.50 s (https1); 24 of 48 affected messages were lost and 8 "
        "came late.",
        "  Not recovered: h2 5 of 5.",
        "  Lost: h2 24 of 24.",
    ]


def test_where_nothing_recovered_no_time_is_named(tmp_path: Path) -> None:
    none = {"recovery": None, "not_recovered": 5}
    first, *_ = sentences(campaign(tmp_path, h2=none, https1=none))
    assert first.startswith("clean: 6 of 48 affected messages were lost")


def test_of_many_conditions_the_rest_is_in_its_section(tmp_path: Path) -> None:
    links = tuple(f"l{number}" for number in range(MOST_CONDITIONS + 2))
    *shown, rest = recoveries(campaign(tmp_path, links))
    assert len(shown) == MOST_CONDITIONS
    assert rest.text == "2 more conditions are in section Outages and recovery."


def test_an_answer_names_the_recovery_before_the_smallest_median(tmp_path: Path) -> None:
    texts = [each.text for each in answer(campaign(tmp_path))]
    recovered, smallest = (next(i for i, text in enumerate(texts) if word in text) for word in ("recovery", "smallest"))
    assert recovered < smallest
    write(tmp_path / "none")
    assert sentences(load(tmp_path / "none", tmp_path)) == []
