"""Claims of a replication in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.replication.records import record
from wirelab.report.replication import words
from wirelab.schema.replication import Replication


@pytest.fixture
def found(tmp_path: Path) -> Replication:
    return record(tmp_path)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (58.3, "58 s"), (119.0, "119 s"), (120.0, "2 min"), (7_000, "117 min"), (7_200, "2 h")],
)
def test_a_duration_is_in_a_unit_that_leaves_digits(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


def test_n_is_that_of_the_estimate_and_the_points_stand_behind_it(found: Replication) -> None:
    claim = found["claims"][0]
    claim["n"], counted = 900, [each for each in claim["points"] if each["counts"]]
    counted[0]["n"], counted[1]["n"] = 70, 1_200
    cell = words.size(claim, None)
    assert cell.text == "100 (70 to 1,200)"
    claim["form"] = "count"
    assert words.size(claim, None).text == "900 (70 to 1,200)"
    counted[1]["n"] = 70
    assert words.size(claim, None).text == "900"


def test_counts_of_comparisons_are_whole(found: Replication) -> None:
    claim = found["claims"][0]
    claim["form"], claim["paper"] = "count", 19.0
    assert words.paper(claim).text == "19"


def test_counts_are_of_the_points_that_count(found: Replication) -> None:
    assert words.counted(found["claims"][0]).text == "1 / 1 of 2; grid: 12"
    assert words.counted(found["claims"][2]).tone == "clear"


def test_a_path_is_shown_by_the_last_names_that_differ() -> None:
    paths = ["link.rtt", "link", "core.link"]
    assert [words.last_names(path, paths) for path in paths] == ["rtt", "link", "core.link"]


def test_a_claim_in_parts_has_the_number_and_the_range_of_the_part_that_leads(found: Replication) -> None:
    claim = found["claims"][1]
    claim["ours"], part = None, claim["parts"][0]
    assert claim["over_grid"] is not None
    claim["over_grid"]["effect"] = None
    part["range"] = {"least": {"value": 0.7, "levels": {}}, "largest": {"value": 1.4, "levels": {}}}
    assert words.ours(claim, part).text == "C2.1: 1.1 [0.8, 1.5]"
    assert words.effect(claim, part).text == "C2.1: 0.700 to 1.40"
    assert (words.effect(claim, part).title or "").startswith(part["text"])
    part["range"]["least"]["value"] = 1.4
    assert words.effect(claim, part).text == "C2.1: 1.40"
    assert words.ours(claim, None).reason == "no part has an estimate"
    del part["range"]
    assert words.effect(claim, part).reason == "fewer than two points have an estimate"


def test_a_place_along_levels_is_called_one(found: Replication) -> None:
    claim = found["claims"][1]
    claim["ours"], part = None, claim["parts"][0]
    part["form"] = "bend"
    assert words.ours(claim, part).text == "C2.1: place 1.1 [0.8, 1.5]"
    assert words.of_places(claim, part)
    assert not words.of_places(found["claims"][0], None)


def test_a_claim_that_turns_by_less_than_one_percent_does_not_count_as_turned(found: Replication) -> None:
    claim = found["claims"][0]
    assert words.flipped(claim)
    confirmed, contradicted = claim["points"]
    confirmed["value"], contradicted["value"] = 1.0003, 0.9998
    assert not words.flipped(claim)
    contradicted["value"] = None
    assert words.flipped(claim)


def test_verdicts_of_a_quick_run_have_less_weight(found: Replication) -> None:
    claim = found["claims"][0]
    assert not words.verdict(claim, found).weak
    found["campaigns"][0]["quick"] = "2 of 5 trials a scenario"
    shown = words.verdict(claim, found)
    assert shown.weak
    assert shown.title is not None
    assert shown.title.startswith("quick run, not conclusive; ")


def test_what_nothing_here_could_measure_is_not_called_inconclusive(found: Replication) -> None:
    claim = found["claims"][1]
    claim["form"] = "not-measured"
    assert words.verdict(claim, found).text == "not measured"
    assert words.counted(claim).reason == "nothing here measures it"
    claim["verdict"] = None
    assert words.kind(claim) is None
