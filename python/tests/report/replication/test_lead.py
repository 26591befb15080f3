"""The first sentences of a replication."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.replicate.sources import estimate
from tests.report.replication.records import record
from wirelab.report.replication import lead, words
from wirelab.schema.replication import Replication


@pytest.fixture
def found(tmp_path: Path) -> Replication:
    return record(tmp_path)


def test_the_first_sentence_says_what_is_confirmed_and_what_decides_it(found: Replication) -> None:
    first, second, *_ = lead.lead(found)
    assert first.text == (
        "Of 3 claims of example, 2 confirmed (C1 at 1 of 2 points and C3) and 1 inconclusive. "
        "One choice alone turns C1: round trip (1 of 1 pair)."
    )
    assert second.text == "The verdicts are of the interpretation: a local network."


def test_a_paper_without_confirmed_claims_says_so_first(found: Replication) -> None:
    for claim in found["claims"]:
        claim["verdict"] = "inconclusive"
        assert claim["over_grid"] is not None
        claim["over_grid"]["deciding"] = None
    found["claims"][1]["link"] = {"flag": "unusable", "why": "the link was late"}
    first, *_, third = lead.lead(found)[:4]
    assert first.text == (
        "Of 3 claims of example, none confirmed and 3 inconclusive. C1 turns with several choices together."
    )
    assert third.text == "C2 is inconclusive on data of unusable quality."
    assert found["claims"][0]["over_grid"] is not None
    found["claims"][0]["over_grid"]["contradicted"] = 0
    assert lead.lead(found)[0].text.endswith(". No choice turns a claim from confirmed to contradicted.")


def test_claims_that_turn_with_several_choices_together_are_named_too(found: Replication) -> None:
    third = found["claims"][2]["over_grid"]
    assert third is not None
    third["contradicted"] = 1
    found["claims"][2]["points"][1]["standing"] = "contradicted"
    assert lead.lead(found)[0].text.endswith("round trip (1 of 1 pair); C3 turns with several choices together.")


def test_without_a_primary_interpretation_the_sentence_names_what_turns(tmp_path: Path) -> None:
    without = record(tmp_path, primary=False)
    assert lead.lead(without)[0].text == (
        "example has no primary interpretation, so that its 3 claims have no verdict. "
        "C3 is confirmed at every point that counts. "
        "C1 (claim C1) ranges over 0.700 to 1.60, where the paper prints 1.50. "
        "One choice alone turns C1: round trip (1 of 1 pair)."
    )
    silent = record(tmp_path, primary=False, printed=False)
    assert " C1 (claim C1) ranges over 0.700 to 1.60. One choice" in lead.lead(silent)[0].text
    assert words.verdict(without["claims"][0], without).reason is not None


def test_the_tally_of_several_papers_counts_every_claim(tmp_path: Path, found: Replication) -> None:
    other = record(tmp_path, primary=False)
    assert lead.tally([found, other]) == (
        "Of 6 claims, 2 confirmed, 1 inconclusive and 3 without a primary interpretation."
    )


def test_claims_that_were_not_run_are_counted_too(tmp_path: Path, found: Replication) -> None:
    found["claims"][2]["verdict"] = None
    assert lead.lead(found)[0].text.startswith(
        "Of 3 claims of example, 1 confirmed (C1 at 1 of 2 points), 1 inconclusive "
        "and 1 not run in the primary interpretation. "
    )
    assert words.verdict(found["claims"][2], found).reason == "its scenarios were not run in the primary interpretation"
    assert lead.tally([found, record(tmp_path, primary=False)]) == (
        "Of 6 claims, 1 confirmed, 1 inconclusive, 1 not run in the primary interpretation "
        "and 3 without a primary interpretation."
    )


def test_what_is_the_same_at_every_point_is_said_with_its_verdict(found: Replication) -> None:
    first = found["claims"][0]["over_grid"]
    assert first is not None
    first.update({"robust": True, "confirmed": 0, "contradicted": 2})
    assert (
        lead.lead(found)[-1].text
        == "Confirmed at every point that counts: C3; contradicted at every point that counts: C1."
    )


def test_every_choice_that_turns_a_claim_by_itself_is_named(found: Replication) -> None:
    third = found["claims"][2]["over_grid"]
    assert third is not None
    third["deciding"] = {"path": "workload.connection", "flips": 1, "pairs": 2}
    assert lead.lead(found)[0].text.endswith(
        "One choice alone turns C1: round trip (1 of 1 pair); C3: connection policy (1 of 2 pairs)."
    )


def test_of_claims_that_one_choice_turns_each_has_its_pairs(found: Replication) -> None:
    for at in (0, 2):
        over = found["claims"][at]["over_grid"]
        assert over is not None
        over["deciding"] = {"path": "link.rtt", "flips": 1, "pairs": 2 + at}
    said = "One choice alone turns C1 and C3: round trip (C1 in 1 of 2 and C3 in 1 of 4 pairs)."
    assert lead.lead(found)[0].text.endswith(said)


def test_interpretations_that_turn_a_claim_are_named(found: Replication) -> None:
    over = found["claims"][0]["over_grid"]
    assert over is not None
    over["deciding"] = None
    over["interpretations"] = {"far": "confirmed", "near": "contradicted", "other": "inconclusive"}
    assert lead.lead(found)[0].text.endswith(
        "C1 turns with several choices together; C1 is confirmed with far and contradicted with near."
    )


def test_parts_on_which_the_clocks_disagree_are_named(found: Replication) -> None:
    live: Any = {"verdict": "contradicted", "why": "", "ours": estimate(0.5), "link": None, "campaign": 1}
    found["claims"][0]["parts"][0]["live"] = live
    assert "C1.1 has the opposite verdict in real time" in lead.lead(found)[0].text
    live["verdict"] = "inconclusive"
    assert "opposite verdict" not in lead.lead(found)[0].text


def test_a_claim_that_only_the_virtual_clock_confirms_is_named(found: Replication) -> None:
    live: Any = {"verdict": "inconclusive", "why": "", "ours": estimate(1.1), "link": None, "campaign": 1}
    found["claims"][0]["parts"][0]["live"] = live
    assert " In real time C1 is not confirmed." in lead.lead(found)[0].text
    live["verdict"] = "confirmed"
    assert "In real time" not in lead.lead(found)[0].text


def test_a_paper_that_contradicts_itself_says_so_in_its_first_lines(found: Replication) -> None:
    inside: Any = {"title": "order", "compared": 4, "against": [{}, {}], "factor": 1.0, "why": "it must"}
    found["inside"] = [inside, {**inside, "compared": 6, "against": []}]
    assert lead.lead(found)[0].text.endswith("The paper's own numbers contradict one another in 2 of 10 pairs.")


def test_verdicts_of_the_virtual_clock_say_what_it_leaves_out(found: Replication) -> None:
    words = "They are of the virtual clock, under which computing takes no time."
    assert words in [each.text for each in lead.lead(found)]
    found["campaigns"][0]["clock"] = "live"
    assert words not in [each.text for each in lead.lead(found)]


def test_a_quick_run_says_so_first_and_concludes_nothing_on_every_point(found: Replication) -> None:
    found["campaigns"][0]["quick"] = "2 of 5 trials a scenario, 1 of 10 exchanges each"
    first, second, *rest = (each.text for each in lead.lead(found))
    assert first == "A quick run, not conclusive."
    assert "turns" not in second
    assert not any("every point" in each for each in rest)
