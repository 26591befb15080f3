"""The campaigns that a file of claims lists, compared with those that were given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.claims.grids import FILE
from tests.replicate.sources import source
from wirelab.claims.load import Claims, load
from wirelab.replicate.listed import in_order, not_given
from wirelab.replicate.source import Source

LISTED = """
[[campaign]]
experiment = "main"
clock = "virtual"
set = { "link.rtt" = "2ms, 20 ms" }
why = "the primary interpretation"
[[campaign]]
experiment = "main"
set = { "link.rtt" = "2 ms, 20 ms" }
"""


@pytest.fixture
def claims(tmp_path: Path) -> Claims:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE + LISTED)
    return load(path)


def _given(clock: str, *levels: str) -> Source:
    found = source(name="main")
    found.summary.update(clock=clock, sets={"link.rtt": [*levels], "clock": [clock]})
    return found


def test_campaigns_that_were_not_given_are_named_with_what_they_are_for(claims: Claims) -> None:
    first = "main, virtual clock, link.rtt=2ms, 20 ms (the primary interpretation): not named with --from"
    second = "main, live clock, link.rtt=2 ms, 20 ms: not named with --from"
    assert not_given(claims, []) == [first, second]
    assert not_given(claims, [_given("virtual", "2 ms", "20 ms")]) == [second]
    assert not_given(claims, [_given("live", "2 ms", "20 ms")]) == [first]
    assert not_given(claims, [_given("live", "2 ms"), _given("virtual", "2 ms", "4 ms")]) == [first, second]


def test_campaigns_are_in_the_order_of_the_list_and_others_behind(claims: Claims) -> None:
    first, second = _given("virtual", "2 ms", "20 ms"), _given("live", "2 ms", "20 ms")
    own, other = _given("live", "2 ms"), _given("live", "4 ms")
    assert [id(each) for each in in_order(claims, [own, second, other, first])] == [
        *map(id, [first, second, own, other])
    ]
