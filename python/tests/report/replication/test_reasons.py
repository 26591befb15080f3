"""Why a claim has its verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.replicate.sources import estimate
from tests.report.replication.records import record
from wirelab.report.replication.reasons import leading, why
from wirelab.schema.replication import ReplicatedClaim, ReplicatedPart, Replication
from wirelab.schema.verdicts import Verdict

FACTOR = 1.25


@pytest.fixture
def found(tmp_path: Path) -> Replication:
    return record(tmp_path)


def _part(verdict: Verdict, **more: Any) -> ReplicatedPart:
    judged = [{"of": "", **estimate(1.1, 0.8, 1.5)}]
    part: Any = {
        "id": "C2.1", "form": "order", "text": "delay: a below b", "verdict": verdict, "decides": True, "paper": None,
        "why": "b takes 1.1 [0.9, 1.3] times as much as a", "ours": None, "judged": judged, "bounds": [1.0], "n": 9,
        "link": None, "campaign": 0, **more,
    }  # fmt: skip
    return part  # type: ignore[no-any-return]


def _text(claim: ReplicatedClaim, found: Replication) -> str:
    """The reason with all that stands behind it."""
    first, more = why(claim, found)
    return " ".join([first.text, *more])


def _of(found: Replication, *parts: ReplicatedPart, verdict: Any = "inconclusive", **more: Any) -> str:
    claim: ReplicatedClaim = found["claims"][1]
    claim.update({"parts": [*parts], "verdict": verdict, "shown": verdict, "needed": None, **more})  # type: ignore[typeddict-item]
    return _text(claim, found)


def test_an_inconclusive_claim_names_the_bound_and_what_would_decide_it(found: Replication) -> None:
    text = _text(found["claims"][1], found)
    assert text.startswith(
        "The deciding interval [0.800, 1.50] contains 1. About 11 times as many values would confirm it, if"
    )
    assert text.endswith(" min more). C2.1 is a part.")


def test_the_first_of_several_open_parts_is_named_with_its_bounds(found: Replication) -> None:
    wide = [{"of": "", **estimate(1.1, 0.7, None)}]
    text = _of(found, _part("inconclusive", judged=wide, bounds=[0.8, 1.25]), _part("inconclusive"), _part("confirmed"))
    assert text == (
        "2 of 3 parts leave a bound open, such as C2.1 (delay: a below b). The deciding interval [0.700, ∞) "
        "contains 0.8 and 1.25."
    )


def test_parts_that_the_set_up_keeps_open_are_counted_with_the_reason(found: Replication) -> None:
    sure = [{"of": "", **estimate(2.0, 1.9, 2.1)}]
    words = (
        "b takes 2 [1.9, 2.1] times as much as a; smallest tolerance that confirms the magnitude: 1.2; another cause"
    )
    blocked = _part("inconclusive", judged=sure, why=words)
    absent = _part("inconclusive", judged=[], why="the mean of a is not measured")
    text = _of(found, _part("inconclusive"), blocked, blocked, absent)
    assert text == (
        "1 of 4 parts leaves a bound open, namely C2.1 (delay: a below b). The deciding interval [0.800, 1.50] "
        "contains 1. "
        "Of the rest 2 cannot be decided here: another cause. "
        "Of the rest 1 has no interval: the mean of a is not measured."
    )
    assert _of(found, blocked) == "Another cause."


def test_without_known_bounds_the_reason_is_that_of_the_part(found: Replication) -> None:
    part = _part("inconclusive")
    del part["bounds"]
    assert _of(found, part) == "B takes 1.1 [0.9, 1.3] times as much as a."
    assert _of(found, part, part).startswith("Both parts are inconclusive, such as C2.1 (delay: a below b). B takes ")


def test_a_long_reason_is_a_sentence_for_each_of_its_clauses(found: Replication) -> None:
    clauses = [" ".join([letter, *["is"] * 9]) for letter in "abc"]
    against = _part("contradicted", why=f"{'; '.join(clauses)}; smallest tolerance that confirms the magnitude: 13.34")
    assert _of(found, against, _part("confirmed"), _part("inconclusive"), verdict="contradicted") == (
        "Against it: C2.1 (delay: a below b). "
        + " ".join(f"{each[0].upper()}{each[1:]}." for each in clauses)
        + " 1 of 3 parts is contradicted, 1 confirmed and 1 inconclusive."
    )
    assert _of(found, _part("confirmed"), _part("confirmed"), verdict="confirmed") == "Both parts are confirmed."


def test_both_verdicts_of_an_outlier_rule_are_named(found: Replication) -> None:
    depends: Any = {"verdict": "depends-on-outlier-rule"}
    text = _of(found, _part("inconclusive"), **depends, verdicts=["inconclusive", "contradicted"])
    assert text.startswith(
        "Inconclusive without the paper's outlier rule, contradicted with it. The deciding interval "
    )
    found["claims"][1].pop("verdicts")
    assert _of(found, _part("inconclusive"), **depends).startswith(
        "Inconclusive without the paper's outlier rule, another verdict with it. "
    )


def test_quality_that_is_not_good_has_its_reason_once(found: Replication) -> None:
    link = {"flag": "limited", "why": "2 of its 9 comparisons: the difference is small; the link was late"}
    assert _of(found, _part("confirmed"), _part("confirmed"), verdict="confirmed", link=link) == (
        "Both parts are confirmed. Quality limited in 2 of 9 comparisons. First: the difference is small, "
        "and 1 more reason."
    )
    unusable = {"flag": "unusable", "why": "1 of its 1 comparisons: the link was late"}
    assert (
        _of(found, _part("inconclusive", link=unusable), link=unusable) == "The quality is unusable: the link was late."
    )
    assert _of(found, *[_part("inconclusive", link=unusable)] * 3, link=unusable) == (
        "All 3 parts rest on data of unusable quality. The link was late."
    )


def test_without_a_verdict_the_reason_is_that_of_the_points(tmp_path: Path) -> None:
    found = record(tmp_path, primary=False)
    turned, undecided, single = found["claims"]
    assert _text(turned, found) == "Confirmed at 1 and contradicted at 1 of 2 points."
    assert _text(single, found) == "Confirmed at each of 2 points that count."
    assert _text(undecided, found).startswith("Not decided at the only point that counts. The deciding interval ")
    single["why"] = "b is faster. Browsers refuse push since 2022"
    assert _text(single, found) == ("Confirmed at each of 2 points that count. Browsers refuse push since 2022.")
    assert undecided["over_grid"] is not None
    undecided["over_grid"]["points"] = 3
    assert _text(undecided, found).startswith(
        "Decided at none of 3 points that count. At the point that is shown the deciding "
    )
    assert undecided["needed"] is not None
    undecided["over_grid"]["contradicted"] = 2
    assert _text(undecided, found).startswith(
        "Confirmed at 0 and contradicted at 2 of 3 points. At the point that is shown about 11 "
    )


def test_the_part_that_leads_is_the_one_that_the_reason_names(found: Replication) -> None:
    def lead(*parts: ReplicatedPart) -> str | None:
        _of(found, *parts)
        led = leading(found["claims"][1])
        return None if led is None else led["id"]

    ours = estimate(1.1, 0.8, 1.5)
    sure = [{"of": "", **estimate(2.0, 1.9, 2.1)}]
    confirmed = _part("confirmed", id="a", ours=ours)
    blocked = _part("inconclusive", id="b", ours=ours, judged=sure)
    opened = _part("inconclusive", id="c", ours=ours)
    against = _part("contradicted", id="d", ours=ours)
    assert lead(confirmed, blocked, opened, against) == "d"
    assert lead(confirmed, blocked, opened) == "c"
    assert lead(confirmed, blocked) == "b"
    assert lead(_part("confirmed"), confirmed) == "a"
    assert lead(_part("contradicted")) is None
    ranged = _part("inconclusive", id="e", range={"least": {"value": 1.0, "levels": {}}})
    assert lead(_part("contradicted"), ranged) == "e"
    assert lead({**against, "decides": False}, confirmed) == "a"


def test_a_bound_that_is_a_printed_magnitude_with_its_tolerance_says_so(found: Replication) -> None:
    judged = [{"of": "", **estimate(14.0, 12.0, 16.0)}]
    part = _part("inconclusive", judged=judged, bounds=[12 / FACTOR, 12 * FACTOR], paper=12)
    assert _of(found, part) == "The deciding interval [12, 16] contains 15, which is 12 × 1.25."


def test_a_protocol_has_the_paper_s_name_in_the_words_of_a_quality(found: Replication) -> None:
    found["labels"] |= {"https1": "HTTP/1.1 over TLS", "page": "the page"}
    link = {"flag": "limited", "why": "its scenario: https1, page: endpoints waited 120 ms for a CPU"}
    text = _of(found, _part("confirmed"), verdict="confirmed", link=link, why="b is slower")
    assert text == "B is slower. Quality limited: HTTP/1.1 over TLS, page: endpoints waited 120 ms for a CPU."


def test_differences_below_one_percent_are_counted(found: Replication) -> None:
    claim = found["claims"][0]
    claim["form"] = "order"
    claim["points"][0]["value"], claim["points"][1]["value"] = 1.002, 0.7
    small = "The difference is below 1 % at"
    assert f"{small} 1 of 2 points, and 1 of its 1 confirmations are there." in _text(claim, found)
    claim["points"][0]["standing"] = "inconclusive"
    assert f"{small} 1 of 2 points." in _text(claim, found)
    claim["points"][1]["value"] = 0.998
    assert f"{small} each of 2 points." in _text(claim, found)
    claim["form"] = "count"
    assert "difference" not in _text(claim, found)


def test_the_part_that_the_columns_show_is_named_in_words(found: Replication) -> None:
    ours = estimate(1.1, 1.05, 1.2)
    parts = [_part("confirmed", ours=ours), _part("confirmed", id="C2.2", ours=ours)]
    assert _of(found, *parts, verdict="confirmed", ours=None) == "Both parts are confirmed. C2.1 is delay: a below b."


def test_a_part_that_has_the_opposite_verdict_in_real_time_says_so(found: Replication) -> None:
    live = {"verdict": "confirmed", "ours": estimate(1.3, 1.2, 1.4), "link": None, "campaign": 1}
    against = _part("contradicted", live=live)
    text = _of(found, against, _part("confirmed"), verdict="contradicted")
    assert "In real time C2.1 is confirmed: 1.30 [1.20, 1.40]." in text
    live["verdict"] = "inconclusive"
    assert "real time" not in _of(found, against, _part("confirmed"), verdict="contradicted")


def test_the_note_of_a_claim_follows_its_reason(found: Replication) -> None:
    against = _part("contradicted", why="it is 2")
    text = _of(found, against, _part("confirmed"), verdict="contradicted", why="of 2 parts 1. One was set apart")
    assert text.endswith(" One was set apart.")


def test_a_clause_on_time_outs_is_a_sentence(found: Replication) -> None:
    clauses = [" ".join(["it", *["is"] * 24]), "mean, time-outs counted at 3 min, which make up to 52% of a mean"]
    against = _part("contradicted", why="; ".join(clauses))
    text = _of(found, against, _part("confirmed"), verdict="contradicted")
    assert text.endswith(
        " Time-outs are counted at 3 min, which make up to 52% of a mean. 1 of 2 parts is contradicted and 1 confirmed."
    )


def test_the_name_of_an_experiment_stays_as_it_is_written(found: Replication) -> None:
    claim = found["claims"][2]
    claim["verdict"], claim["why"] = None, "b is faster. h2window2017-streams varies it"
    assert _text(claim, found).endswith(" h2window2017-streams varies it.")


def test_the_reason_is_one_sentence_and_more_stands_behind_it(found: Replication) -> None:
    first, more = why(found["claims"][1], found)
    assert first.text == "The deciding interval [0.800, 1.50] contains 1."
    assert more[-1] == "C2.1 is a part."
    assert all(each.endswith(".") for each in more)


def test_unusable_data_are_named_where_other_points_decided(tmp_path: Path) -> None:
    found = record(tmp_path, primary=False)
    claim = found["claims"][0]
    claim["link"] = {"flag": "unusable", "why": "2 of its 9 scenarios: a waited for a CPU"}
    assert "Quality unusable in 2 of 9 scenarios. First: a waited for a CPU." in _text(claim, found)


def test_a_part_outside_the_verdict_is_shown_with_its_own(found: Replication) -> None:
    ours = estimate(1.1, 0.8, 1.5)
    part = _part("contradicted", decides=False, id="C2.2", text="the size that is printed", ours=ours)
    text = _of(found, _part("confirmed"), part, verdict="confirmed", ours=ours)
    assert text.endswith("C2.2 decides nothing, and is contradicted. It is the size that is printed.")


def test_from_which_level_on_is_said_of_parts_outside_the_verdict(found: Replication) -> None:
    level = _part(
        "inconclusive", decides=False, id="C2.3", form="from-level", ours=estimate(2.0, 1.0, 3.0),
        why="b is above a from 45 % on; the ratios are 1.1 (10 %), 4.2 (45 %)",
    )  # fmt: skip
    text = _of(found, _part("confirmed"), level, verdict="confirmed")
    assert "C2.3, outside the verdict: b is above a from 45 % on. The ratios are 1.1 (10 %), 4.2 (45 %)." in text
    level["why"] = (
        "b is above a not at the last level; the ratios are 1.1 (10 %), 0.9 (45 %); "
        "mean, without time-outs, which are 16.4 % of a"
    )
    level["title"] = "of answered requests alone"
    text = _of(found, _part("confirmed"), level, verdict="confirmed")
    asked = "C2.3 stands outside the verdict: of answered requests alone."
    assert f"{asked} B is not above a at the last level." in text
    assert "Its means leave out time-outs, which are 16.4 % of a." in text


def test_a_place_has_the_levels_that_it_counts(found: Replication) -> None:
    bend = _part("contradicted", form="bend", ours=estimate(1.0, 0.5, 2.0), along=["1 kB", "2 kB", "4 kB"])
    text = _of(found, bend, _part("confirmed"), verdict="contradicted", ours=None)
    assert text.endswith("Place 0 is 1 kB, and place 2 is 4 kB.")


def test_why_no_number_of_values_decides_a_claim(found: Replication) -> None:
    for words, said in (
        ("its interval has no end with so few trials (bootstrap)", "An interval without an end does not say how many"),
        ("the quality is unusable: it was late", "More values do not decide it on a machine whose programs wait"),
        ("it would be confirmed, but not without the 120 ms of CPU waiting of a", "More values do not decide it on"),
    ):
        needed = {"n": None, "hours": None, "why": words}
        assert said in _of(found, _part("inconclusive"), _part("confirmed"), needed=needed)


def test_a_part_that_differs_by_less_than_one_percent_everywhere_says_so(found: Replication) -> None:
    at = {"least": {"value": 0.999, "levels": {}}, "largest": {"value": 1.004, "levels": {}}}
    near = _part("confirmed", ours=estimate(1.001, 0.999, 1.002), range=at)
    words = "The difference of C2.1 is below 1 % at each point."
    assert words in _of(found, near, _part("confirmed"), verdict="confirmed", form="conjunction", ours=None)
    at["largest"]["value"] = 1.2
    assert words not in _of(found, near, _part("confirmed"), verdict="confirmed", form="conjunction", ours=None)
