"""Several campaigns to one verdict a claim."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.claims.grids import FILE
from tests.replicate.sources import claim, estimate, part, row, source
from wirelab.claims.load import Claims, load
from wirelab.errors import WirelabError
from wirelab.replicate.combine import combine
from wirelab.replicate.source import Source
from wirelab.schema.replication import ReplicatedClaim

RULED = FILE.replace('primary = "lan"', 'primary = "lan"\noutlier_rule = "three-scaled-mads"')


@pytest.fixture
def claims(tmp_path: Path) -> Claims:
    return _claims(tmp_path, FILE)


def _claims(folder: Path, text: str) -> Claims:
    """The example with its first claim alone."""
    path = folder / "x.claims.toml"
    path.write_text(text[: text.index('[[claim]]\nid = "C2"')])
    return load(path)


def _first(claims: Claims, *sources: Source) -> ReplicatedClaim:
    return combine(claims, sources)["claims"][0]


def test_the_primary_interpretation_gives_the_verdict_and_others_the_range(claims: Claims) -> None:
    confirmatory = source(claim("C1", [row("confirmed", estimate(2.0), rtt="2 ms")]), name="main")
    choices = source(
        claim("C1", [row("contradicted", estimate(0.5), rtt="20 ms"), row("confirmed", estimate(3.0), rtt="2 ms")]),
        name="choices", exchanges=10,
    )  # fmt: skip
    found = _first(claims, choices, confirmatory)
    assert (found["verdict"], found["levels"]["link.rtt"]) == ("confirmed", "2 ms")
    over = found["over_grid"]
    assert over is not None
    assert over["effect"] is not None
    assert (over["points"], over["confirmed"], over["contradicted"]) == (2, 1, 1)
    assert (over["effect"]["least"]["value"], over["effect"]["largest"]["value"]) == (0.5, 2.0)
    assert [each["campaign"] for each in found["points"]] == [0, 1]


def test_of_two_campaigns_at_one_point_the_larger_n_speaks_whatever_it_says(claims: Claims) -> None:
    small = source(claim("C1", [row("confirmed", estimate(2.0, n=50), rtt="2 ms")], n=50))
    large = source(claim("C1", [row("inconclusive", estimate(1.1, n=90), rtt="2 ms")], n=90))
    for order in ((small, large), (large, small)):
        found = _first(claims, *order)
        assert (found["verdict"], found["n"], len(found["points"])) == ("inconclusive", 90, 1)


def test_a_part_that_the_confirmatory_run_lacks_comes_from_another_of_the_interpretation(tmp_path: Path) -> None:
    two = FILE.replace('where = { link = "lossy" }', 'over = { link = ["clean", "lossy"] }', 1)
    claims = _claims(tmp_path, two)
    parts = [part("confirmed", 100), part("inconclusive", 0)]
    main = source(claim("C1", [row("inconclusive", rtt="2 ms")], parts=parts), name="main")
    rest = source(claim("C1", [row("inconclusive", rtt="2 ms")], parts=[*reversed(parts)]), name="rest")
    elsewhere = source(claim("C1", [row("contradicted", rtt="20 ms")], n=900, parts=[part("contradicted", 900)] * 2))
    found = _first(claims, main, rest, elsewhere)
    assert (found["verdict"], found["n"], found["why"]) == ("confirmed", 200, "of 2 parts 2 confirmed")
    assert [each["campaign"] for each in found["parts"]] == [0, 1]


def test_without_a_primary_interpretation_there_is_a_range_and_no_verdict(tmp_path: Path) -> None:
    claims = _claims(tmp_path, FILE.replace('primary = "lan"', ""))
    found = _first(claims, source(claim("C1", [row("confirmed", estimate(2.0), rtt="2 ms")])))
    assert (found["verdict"], found["shown"]) == (None, "confirmed")


def test_a_primary_interpretation_that_was_not_run_gives_no_verdict(claims: Claims) -> None:
    found = _first(claims, source(claim("C1", [row("confirmed", estimate(2.0), rtt="20 ms")])))
    assert (found["verdict"], found["shown"]) == (None, "confirmed")


def test_no_claim_is_counted_that_touches_a_fitted_cell(tmp_path: Path) -> None:
    """At the fitted interpretation of 4 ms it stands outside every count; as the primary it has no verdict to count."""
    found = _first(
        _claims(tmp_path, FILE),
        source(claim("C1", [row("confirmed", estimate(2.0), rtt="2 ms"), row("confirmed", estimate(2.5), rtt="4 ms")])),
    )
    over = found["over_grid"]
    assert over is not None
    assert (over["points"], over["confirmed"], over["fitted"]) == (1, 1, 1)
    assert [(each["standing"], each["counts"]) for each in found["points"]] == [("confirmed", True), ("fitted", False)]
    baseline = FILE.replace('primary = "lan"', 'primary = "calibrated"').replace(
        'basis = "fitted"', 'basis = "baseline"'
    )
    found = _first(
        _claims(tmp_path, baseline), source(claim("C1", [row("confirmed", estimate(2.5), rtt="4 ms")], parts=[]))
    )
    assert found["verdict"] == "fitted"
    assert found["needed"] is None


@pytest.mark.parametrize(
    ("by_rule", "verdict"), [("confirmed", "confirmed"), ("inconclusive", "depends-on-outlier-rule")]
)
def test_a_verdict_needs_both_outlier_rules(tmp_path: Path, by_rule: str, verdict: str) -> None:
    claims = _claims(tmp_path, RULED)
    found = _first(claims, source(claim("C1", [row("confirmed", estimate(2.0), by_rule, rtt="2 ms")])))
    assert found["verdict"] == verdict
    over = found["over_grid"]
    assert over is not None
    assert over["confirmed"] == (verdict == "confirmed")


def test_what_two_experiments_leave_as_run_are_two_points(claims: Claims) -> None:
    rows = [row("confirmed", estimate(2.0), rtt="3 ms")]
    rows[0]["levels"].pop("link.rtt")
    as_run = [source(claim("C1", rows), name=name) for name in ("one", "two")]
    for each in as_run:
        each.plan.experiment.factors.clear()
    found = _first(claims, *as_run)
    assert len(found["points"]) == 2


def test_a_claim_that_no_campaign_was_judged_by_is_named(claims: Claims) -> None:
    with pytest.raises(WirelabError, match="no campaign was judged by claim C1"):
        combine(claims, [source(claim("C9", [row("confirmed", rtt="2 ms")]))])
