"""Several campaigns to one record."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.claims.grids import FILE
from tests.replicate.sources import claim, part, row, source
from wirelab.claims.load import Claims, load
from wirelab.errors import WirelabError
from wirelab.replicate.combine import combine


def _until(folder: Path, name: str) -> Claims:
    """The example without this claim and those after it."""
    path = folder / "x.claims.toml"
    path.write_text(FILE[: FILE.index(f'[[claim]]\nid = "{name}"')])
    return load(path)


def test_skill_is_that_of_the_campaign_with_fewest_numbers_missing(tmp_path: Path) -> None:
    skills = [{"interpretation": "lan", "by_rule": False, "missing": missing} for missing in (34, 0)]
    judged = claim("C1", [row("confirmed", rtt="2 ms")])
    small, whole = source(judged, exchanges=9000, skill=skills[:1]), source(judged, skill=skills[1:])
    for order in ((small, whole), (whole, small)):
        assert combine(_until(tmp_path, "C2"), order)["skill"] == skills[1:]


def test_a_campaign_says_which_claims_it_lacks(tmp_path: Path) -> None:
    claims = _until(tmp_path, "C3")
    both = [claim(name, [row("confirmed", rtt="2 ms")]) for name in ("C1", "C2")]
    both[1]["parts"] = [part("confirmed", 100)] * 2
    found = combine(claims, [source(*both), source(*both[:1])])
    assert [each.get("lacks") for each in found["campaigns"]] == [None, ["C2"]]


def test_a_campaign_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE)
    claims = [claim(name, [row("confirmed", rtt="2 ms")]) for name in ("C1", "C2", "C3")]
    with pytest.raises(WirelabError, match=r"main and main have the same records \(digest a1\)"):
        combine(load(path), [source(*claims, name="main"), source(*claims, name="main")])
