"""Claims that touch a printed number by which an interpretation was chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.claims.grids import FILE
from wirelab.claims.fitted import cells_of, fitted
from wirelab.claims.load import Claims, load


@pytest.fixture
def claims(tmp_path: Path) -> Claims:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE)
    return load(path)


def test_the_cells_of_a_claim_are_those_of_parts_that_decide(claims: Claims) -> None:
    lossy, clean, size = claims.claims
    assert cells_of(lossy, claims) == {("delay", "h2", "lossy", "mean"), ("delay", "h3", "lossy", "mean")}
    assert cells_of(clean, claims) == {("delay", "h2", "clean", "mean"), ("delay", "h3", "clean", "mean")}
    assert {metric for metric, *_ in cells_of(size, claims)} == {"size"}


def test_a_claim_is_fitted_where_its_numerator_or_denominator_was_used(claims: Claims) -> None:
    lan, calibrated = claims.file.interpretation
    assert [fitted(claim, calibrated, claims) for claim in claims.claims] == [True, False, False]
    assert not any(fitted(claim, lan, claims) for claim in claims.claims)


def test_a_star_stands_for_every_level(claims: Claims) -> None:
    every = claims.file.interpretation[1].model_copy(update={"used": [["delay", "*", "*", "mean"]]})
    spread = claims.file.interpretation[1].model_copy(update={"used": [["*", "*", "*", "sd"]]})
    assert [fitted(claim, every, claims) for claim in claims.claims] == [True, True, False]
    assert not any(fitted(claim, spread, claims) for claim in claims.claims)


def test_without_printed_numbers_an_interpretation_names_the_claims_that_it_used(claims: Claims) -> None:
    inferred = claims.file.interpretation[1].model_copy(update={"used": [], "used_claims": ["C1", "C3"]})
    assert [fitted(claim, inferred, claims) for claim in claims.claims] == [True, False, True]
