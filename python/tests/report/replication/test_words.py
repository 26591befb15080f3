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


def test_the_first_sentence_says_what_is_confirmed_and_what_decides_it(found: Replication) -> None:
    first, second, *_ = words.lead(found)
    assert first.text == (
        "Of 3 claims of example, 2 confirmed (C1 and C3) and 1 inconclusive; "
        "changing only the round trip turns C1 (1 of 1 pair)."
    )
    assert second.text == "The verdicts are of the interpretation: a local network."


def test_a_paper_without_confirmed_claims_says_so_first(found: Replication) -> None:
    for claim in found["claims"]:
        claim["verdict"] = "inconclusive"
        assert claim["over_grid"] is not None
        claim["over_grid"]["deciding"] = None
    found["claims"][1]["link"] = {"flag": "unusable", "why": "the link was late"}
    first, _, third, *_ = words.lead(found)
    assert first.text == (
        "Of 3 claims of example, none confirmed and 3 inconclusive; C1 turns with several choices together."
    )
    assert third.text == "C2 is inconclusive on data of unusable quality."
    assert found["claims"][0]["over_grid"] is not None
    found["claims"][0]["over_grid"]["contradicted"] = 0
    assert words.lead(found)[0].text.endswith("; no choice turns a claim from confirmed to contradicted.")


def test_claims_that_turn_with_other_choices_are_named_too(found: Replication) -> None:
    third = found["claims"][2]["over_grid"]
    assert third is not None
    third["contradicted"] = 1
    assert words.lead(found)[0].text.endswith("turns C1 (1 of 1 pair); C3 turns with other choices.")


def test_without_a_primary_interpretation_the_sentence_names_what_turns(tmp_path: Path) -> None:
    without = record(tmp_path, primary=False)
    assert words.lead(without)[0].text == (
        "example has no primary interpretation, so that its 3 claims have no verdict, though C3 is confirmed at every "
        "point that was run; changing only the round trip turns C1 (1 of 1 pair)."
    )
    assert words.verdict(without["claims"][0], without).reason is not None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (58.3, "58 s"), (119.0, "119 s"), (120.0, "2 min"), (7_000, "117 min"), (7_200, "2 h")],
)
def test_a_duration_is_in_a_unit_that_leaves_digits(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


def test_without_a_verdict_n_is_that_of_the_points(tmp_path: Path) -> None:
    turned = record(tmp_path, primary=False)["claims"][0]
    counted = [each for each in turned["points"] if each["counts"]]
    counted[0]["n"], counted[1]["n"] = 70, 1_200
    assert words.size(turned).text == "70 to 1,200"


def test_counts_of_comparisons_are_whole(found: Replication) -> None:
    claim = found["claims"][0]
    claim["form"], claim["paper"] = "count", 19.0
    assert words.paper(claim).text == "19"


def test_counts_are_of_the_points_that_count(found: Replication) -> None:
    assert words.counted(found["claims"][0]).text == "1 / 1 of 2; grid: 12"
    assert words.counted(found["claims"][2]).tone == "clear"


def test_the_tally_of_several_papers_counts_every_claim(tmp_path: Path, found: Replication) -> None:
    other = record(tmp_path, primary=False)
    assert words.tally([found, other]) == (
        "Of 6 claims, 2 confirmed, 1 inconclusive and 3 without a primary interpretation."
    )


def test_claims_that_were_not_run_are_counted_too(tmp_path: Path, found: Replication) -> None:
    found["claims"][2]["verdict"] = None
    assert words.lead(found)[0].text.startswith(
        "Of 3 claims of example, 1 confirmed (C1), 1 inconclusive and 1 not run; "
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


def test_a_deciding_choice_has_its_pairs_and_a_claim_without_one_says_why(found: Replication) -> None:
    claim = found["claims"][0]
    assert words.deciding(claim, found).text == "round trip (1 of 1)"
    assert claim["over_grid"] is not None
    claim["over_grid"]["deciding"] = None
    assert words.deciding(claim, found).reason == "no choice alone turns it from confirmed to contradicted"
    claim["points"][1]["standing"] = claim["points"][0]["standing"]
    assert words.deciding(claim, found).reason == "it has the same verdict at every point that was run"
