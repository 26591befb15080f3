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


def test_the_first_sentence_says_what_is_confirmed_and_the_second_what_decides(found: Replication) -> None:
    first, second, *_ = words.lead(found)
    assert first.text == "Of 3 claims of example, 2 confirmed and 1 inconclusive (a local network)."
    assert second.text == "The round trip decides most: it alone turns 1 of 3 verdicts."


def test_without_a_primary_interpretation_the_sentence_names_what_turns(tmp_path: Path) -> None:
    without = record(tmp_path, primary=False)
    assert words.lead(without)[0].text == "example has no primary interpretation: of 3 claims, C1 turns with choices."
    assert words.verdict(without["claims"][0], without).reason is not None


def test_the_reason_of_an_inconclusive_claim_says_what_would_decide_it(found: Replication) -> None:
    assert "times as many values would confirm it" in words.why(found["claims"][1]).text
    assert " min more)" in words.why(found["claims"][1]).text


def test_a_reason_has_whole_clauses_and_its_tooltip_has_the_rest(found: Replication) -> None:
    claim = found["claims"][0]
    claim["why"] = "; ".join(["a" * 90, "b" * 90, "c" * 90])
    cell = words.why(claim)
    assert (cell.text, cell.title) == (f"A{'a' * 89}; {'b' * 90}", claim["why"])
    claim["why"] = "d" * 300
    assert words.why(claim).text == f"D{'d' * 299}"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (58.3, "58 s"), (119.0, "119 s"), (120.0, "2 min"), (7_000, "117 min"), (7_200, "2 h")],
)
def test_a_duration_is_in_a_unit_that_leaves_digits(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


def test_without_a_verdict_the_reason_and_n_are_those_of_the_points(tmp_path: Path) -> None:
    turned, undecided, single = (record(tmp_path, primary=False)["claims"][number] for number in (0, 1, 2))
    assert words.why(turned).text == "Confirmed at 1 and contradicted at 1 of 2 points"
    assert words.why(single).text == "Confirmed at each of 2 points that were run"
    assert words.why(undecided).text.startswith("Not decided at the only point that was run; at the first of them 11 ")
    counted = [each for each in turned["points"] if each["counts"]]
    counted[0]["n"], counted[1]["n"] = 70, 1_200
    assert words.size(turned).text == "70 to 1,200"


def test_counts_of_comparisons_are_whole(found: Replication) -> None:
    claim = found["claims"][0]
    claim["form"], claim["paper"] = "count", 19.0
    assert words.paper(claim).text == "19"


def test_counts_are_of_the_points_that_count(found: Replication) -> None:
    assert words.counted(found["claims"][0]).text == "1 / 1 of 2"
    assert words.counted(found["claims"][2]).tone == "clear"


def test_the_tally_of_several_papers_counts_every_claim(tmp_path: Path, found: Replication) -> None:
    other = record(tmp_path, primary=False)
    assert words.tally([found, other]) == (
        "Of 6 claims, 2 confirmed, 1 inconclusive and 3 without a primary interpretation."
    )


def test_claims_that_were_not_run_are_counted_too(tmp_path: Path, found: Replication) -> None:
    found["claims"][2]["verdict"] = None
    assert (
        words.lead(found)[0].text
        == "Of 3 claims of example, 1 confirmed, 1 inconclusive and 1 not run (a local network)."
    )
    assert words.verdict(found["claims"][2], found).reason == "its scenarios were not run in the primary interpretation"
    assert words.tally([found, record(tmp_path, primary=False)]) == (
        "Of 6 claims, 1 confirmed, 1 inconclusive, 1 not run and 3 without a primary interpretation."
    )


def test_what_is_the_same_at_every_point_is_said_with_its_verdict(found: Replication) -> None:
    first = found["claims"][0]["over_grid"]
    assert first is not None
    first.update({"robust": True, "confirmed": 0, "contradicted": 2})
    assert (
        words.lead(found)[-1].text
        == "Confirmed at every point that was run: C3; contradicted at every point that was run: C1."
    )
