"""On what a battery lasts longest, as sentences."""

from __future__ import annotations

from pathlib import Path

from tests.report.campaigns import read, store, write
from wirelab.report.battery import battery_lives
from wirelab.report.campaign import load

KNOWN = {
    "exchanges": 4,
    "trials": 1,
    "radio_j": None,
    "message_j": None,
    "states": {},
    "day_j": None,
    "day_states": None,
}


def sentences(folder: Path, lives: dict[str, float | None], protocols: tuple[str, ...]) -> list[str]:
    write(folder, protocols=protocols, links=("clean",))
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        days = lives[scenario["key"].split("-")[0]]
        life = None if days is None else {"low": days / 2, "typical": days, "high": 2 * days}
        scenario["energy"] = {**KNOWN, "battery_days": life}
    store(folder, "estimates.json", estimates)
    return [line for each in battery_lives(load(folder, folder)) for line in each.lines()]


def test_the_longest_and_the_shortest_life_are_named_and_so_is_the_longest_with_encryption(tmp_path: Path) -> None:
    lives: dict[str, float | None] = {"http1": 600.0, "h2": 500.0, "https1": 400.0}
    assert sentences(tmp_path, lives, ("https1", "http1", "h2")) == [
        "clean: the battery lasts longest with http1 30 B 20 ms: 600 [300, 1,200] days.",
        "  With encrypted protocols: h2 30 B 20 ms: 500 [250, 1,000] days.",
        "  The shortest life is 400 [200, 800] days, with https1 30 B 20 ms.",
    ]


def test_lives_within_1_percent_are_alike(tmp_path: Path) -> None:
    lives: dict[str, float | None] = {"http1": 600.0, "h2": 595.0, "https1": 400.0}
    first, *_ = sentences(tmp_path, lives, ("https1", "http1", "h2"))
    assert first == "clean: the battery lasts longest with http1 30 B 20 ms and h2 30 B 20 ms: 600 [300, 1,200] days."


def test_where_sleep_takes_nearly_all_no_protocol_is_named(tmp_path: Path) -> None:
    lives: dict[str, float | None] = {"http1": 600.0, "h2": 595.0, "https1": 599.0}
    said = ["clean: the battery lasts 600 [300, 1,200] days with each of 3 scenarios, within 1 %."]
    assert sentences(tmp_path, lives, ("https1", "http1", "h2")) == said


def test_nothing_is_said_of_one_life(tmp_path: Path) -> None:
    assert sentences(tmp_path, {"http1": 600.0, "h2": None}, ("http1", "h2")) == []
