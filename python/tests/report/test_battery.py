"""On what a battery lasts longest, as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.report.campaigns import EXCHANGES, read, store, write
from tests.report.test_offered import PLACES
from wirelab.report.battery import battery_lives
from wirelab.report.campaign import load
from wirelab.report.smallest_median import MOST_CONDITIONS

KNOWN = {
    "exchanges": 4,
    "trials": 1,
    "radio_j": None,
    "message_j": None,
    "states": {},
    "day_j": None,
    "day_states": None,
}
CONNECTIONS = ("new", "persistent")
RANGES = [
    "Ranges of battery lives are those of the models' constants, which all protocols of a link share.",
    "  Self-discharge is left out.",
]
THREE = ("https1", "http1", "h2")


def sentences(
    folder: Path,
    lives: Mapping[str, float | None],
    protocols: tuple[str, ...],
    ends: Mapping[str, Mapping[str, Any]] | None = None,
    **written: Any,
) -> list[str]:
    """Those before what their ranges are. Lives and changed outcomes are of scenarios whose keys contain the words."""
    write(folder, protocols=protocols, links=("clean",), **written)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        days = next(days for words, days in lives.items() if set(words.split()) <= set(scenario["key"].split("-")))
        life = None if days is None else {"low": days / 2, "typical": days, "high": 2 * days}
        scenario["energy"] = {**KNOWN, "battery_days": life}
        scenario["denominators"] |= {"completed": EXCHANGES, "failed": 0}
        for words, changed in (ends or {}).items():
            if words in scenario["key"].split("-"):
                scenario["denominators"] |= changed
    store(folder, "estimates.json", estimates)
    said = [line for each in battery_lives(load(folder, folder)) for line in each.lines()]
    assert said[-2:] == (RANGES if said else [])
    return said[:-2]


def test_the_longest_and_the_shortest_life_are_named_and_so_is_the_longest_with_encryption(tmp_path: Path) -> None:
    lives = {"http1": 600.0, "h2": 500.0, "https1": 400.0}
    assert sentences(tmp_path, lives, THREE) == [
        "clean: the battery lasts longest with http1: 600 [300, 1,200] days.",
        "  With encrypted protocols: h2: 500 [250, 1,000] days.",
        "  The shortest life is 400 [200, 800] days, with https1.",
    ]


def test_lives_within_1_percent_are_alike(tmp_path: Path) -> None:
    lives = {"http1": 600.0, "h2": 595.0, "https1": 400.0}
    first, *_ = sentences(tmp_path, lives, THREE)
    assert first == "clean: the battery lasts longest with http1 and h2: 600 [300, 1,200] days."


def test_where_sleep_takes_nearly_all_no_protocol_is_named(tmp_path: Path) -> None:
    lives = {"http1": 600.0, "h2": 595.0, "https1": 599.0}
    said = ["clean: the battery lasts 600 [300, 1,200] days with each of 3 scenarios, within 1 %."]
    assert sentences(tmp_path, lives, THREE) == said


def test_nothing_is_said_of_one_life(tmp_path: Path) -> None:
    assert sentences(tmp_path, {"http1": 600.0, "h2": None}, ("http1", "h2")) == []


def test_scenarios_that_did_less_work_are_left_out_and_named(tmp_path: Path) -> None:
    lives = {"http1": 900.0, "h2": 500.0, "https1": 400.0}
    less = {"http1": {"completed": 1, "timed-out": EXCHANGES - 1}}
    assert sentences(tmp_path, lives, THREE, less) == [
        "clean: the battery lasts longest with h2: 500 [250, 1,000] days.",
        "  The shortest life is 400 [200, 800] days, with https1.",
        "  Left out: http1, 1 of 40 completed.",
    ]
    assert sentences(tmp_path / "failed", lives, THREE, {"h2": {"failed_trials": 1}})[-1] == (
        "  Left out: h2, 40 of 40 completed, 1 of 2 trials failed."
    )


def test_one_scenario_that_is_left_is_compared_with_none(tmp_path: Path) -> None:
    less = {"http1": {"completed": 0}}
    assert sentences(tmp_path, {"http1": 900.0, "h2": 500.0}, ("http1", "h2"), less) == [
        "clean: the battery lasts 500 [250, 1,000] days with h2.",
        "  Left out: http1, 0 of 40 completed.",
    ]
    none = {"http1": {"completed": 0}, "h2": {"completed": 0}}
    assert sentences(tmp_path / "none", {"http1": 900.0, "h2": 500.0}, ("http1", "h2"), none) == [
        "clean: no battery lives are compared.",
        "  Left out: http1, 0 of 40 completed; h2, 0 of 40 completed.",
    ]


def test_messages_that_nothing_answers_count_as_sent(tmp_path: Path) -> None:
    sent = {"http1": {"completed": 0, "sent": EXCHANGES}}
    first, *more = sentences(tmp_path, {"http1": 900.0, "h2": 500.0}, ("http1", "h2"), sent)
    assert "longest with http1: 900" in first
    assert not any("Left out" in line for line in more)


def test_an_overloaded_and_an_unusable_scenario_are_left_out(tmp_path: Path) -> None:
    lives = {"http1": 900.0, "h2": 500.0, "https1": 400.0}
    sentences(tmp_path, lives, THREE)
    estimates = read(tmp_path, "estimates.json")
    https1, http1, _ = estimates["scenarios"]
    https1["endpoints"] = {"flag": "unusable", "share": 0.2, "why": "endpoints waited 6 ms", "cure": None}
    http1["offered"] = PLACES
    store(tmp_path, "estimates.json", estimates)
    said = [line for each in battery_lives(load(tmp_path, tmp_path)) for line in each.lines()]
    assert said == [
        "clean: the battery lasts 500 [250, 1,000] days with h2.",
        "  Left out: https1, of unusable quality; http1, overloaded.",
        *RANGES,
    ]


def test_each_interval_has_an_answer_and_connections_are_compared(tmp_path: Path) -> None:
    lives = {"http1 new 10min": 300.0, "http1 persistent 10min": 200.0, "http1 24h": 900.0}
    factors = {"workload.connection": CONNECTIONS, "workload.interval": ("10 min", "24 h")}
    assert sentences(tmp_path, lives, ("http1",), factors=factors) == [
        "interval 10 min: the battery lasts longest with http1 new: 300 [150, 600] days.",
        "  The shortest life is 200 [100, 400] days, with http1 persistent.",
        "interval 24 h: the battery lasts 900 [450, 1,800] days with each of 2 scenarios, within 1 %.",
    ]


def test_of_many_conditions_the_rest_is_in_its_section(tmp_path: Path) -> None:
    intervals = tuple(f"{hours} h" for hours in range(1, MOST_CONDITIONS + 3))
    factors = {"workload.interval": intervals}
    *shown, rest = sentences(tmp_path, {"http1": 300.0, "h2": 200.0}, ("http1", "h2"), factors=factors)
    assert sum(not line.startswith(" ") for line in shown) == MOST_CONDITIONS
    assert rest == "2 more conditions have battery lives in section Energy of the client's radio."
