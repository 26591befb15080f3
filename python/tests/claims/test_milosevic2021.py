"""The shipped claims of milosevic2021, judged on the paper's own printed numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import wirelab.data
from wirelab.claims.family import Rules, judge
from wirelab.claims.fitted import fitted
from wirelab.claims.judgement import Judgement
from wirelab.claims.load import Claims, load
from wirelab.claims.source import Published

FILE = Path(str(wirelab.data.__file__)).parent / "experiments" / "milosevic2021.claims.toml"


@pytest.fixture(scope="module")
def claims() -> Claims:
    return load(FILE)


@pytest.fixture(scope="module")
def printed(claims: Claims) -> dict[str, Judgement]:
    rules = Rules(0.5, 1.0, claims.file.labels)
    return {claim.id: judge(claim, Published(claims), 0.5, rules) for claim in claims.claims}


def test_all_fourteen_claims_are_present(claims: Claims) -> None:
    assert [claim.id for claim in claims.claims] == [f"M{number}" for number in range(1, 15)]
    assert len(claims.numbers) == 2 * 18 * 2


@pytest.mark.parametrize(("claim", "count"), [("M1", 19), ("M2", 11), ("M3", 9)])
def test_the_printed_tables_count_to(printed: dict[str, Judgement], claim: str, count: int) -> None:
    ours = printed[claim].ours
    assert ours is not None
    assert ours.point == count


def test_the_paper_contradicts_itself_in_m2_and_not_in_m1_and_m3(printed: dict[str, Judgement]) -> None:
    assert printed["M2"].paper == 12
    assert printed["M2"].verdict == "contradicted"
    assert printed["M1"].verdict == printed["M3"].verdict == "confirmed"


@pytest.mark.parametrize("claim", ["M4", "M5", "M6", "M7", "M8", "M9"])
def test_the_percentages_follow_from_the_tables_within_rounding(printed: dict[str, Judgement], claim: str) -> None:
    assert printed[claim].verdict == "confirmed", printed[claim].why


@pytest.mark.parametrize(
    ("claim", "cell"),
    [
        ("M10", "Gilbert-Elliott, 30 B"),
        ("M11", "Gilbert-Elliott, 30 B"),
        ("M12", "lossless, 30 B"),
        ("M13", "HTTP/2, 3.5 kB"),
    ],
)
def test_prose_that_the_tables_contradict_is_contradicted_with_the_cell_named(
    printed: dict[str, Judgement], claim: str, cell: str
) -> None:
    assert printed[claim].verdict == "contradicted"
    assert cell in printed[claim].why


def test_m12_fails_in_the_two_outlying_response_times(printed: dict[str, Judgement]) -> None:
    contradicted = {part.text for part in printed["M12"].parts if part.verdict == "contradicted"}
    assert any("lossless, 30 B" in text and "response" in text for text in contradicted)
    assert any("Gilbert-Elliott, 30 B" in text and "response" in text for text in contradicted)


def test_m14_can_never_be_confirmed_and_says_why(printed: dict[str, Judgement]) -> None:
    assert printed["M14"].objection is not None
    assert "one stream" in printed["M14"].objection
    assert printed["M14"].verdict != "confirmed"
    assert [part.decides for part in printed["M14"].parts] == [True, True, False, False]


def test_its_claims_were_frozen_and_its_choices_written_after_the_fact(claims: Claims) -> None:
    assert claims.file.frozen is not None
    assert all(claim.after_the_fact is None for claim in claims.file.claim)
    assert all(each.after_the_fact is not None for each in (*claims.file.choice, *claims.file.interpretation))


def test_the_calibration_leaves_only_claims_on_response_times(claims: Claims) -> None:
    found = {each.name: {c.id for c in claims.claims if fitted(c, each, claims)} for each in claims.file.interpretation}
    assert found["lan"] == found["delayed"] == set()
    assert {claim.id for claim in claims.claims} - found["calibration"] == {"M10", "M11"}
