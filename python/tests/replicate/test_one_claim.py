"""Several campaigns to one verdict a claim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.claims.grids import FILE, LATER
from tests.replicate.sources import claim, estimate, part, row, scenario, source
from wirelab.claims.load import Claims, load
from wirelab.errors import WirelabError
from wirelab.replicate.combine import combine
from wirelab.replicate.needed import BY_RULE
from wirelab.replicate.source import Source
from wirelab.schema.replication import Needed, ReplicatedClaim

RULED = FILE.replace('primary = "lan"', 'primary = "lan"\noutlier_rule = "three-scaled-mads"')


@pytest.fixture
def claims(tmp_path: Path) -> Claims:
    return _claims(tmp_path, FILE)


def _claims(folder: Path, text: str) -> Claims:
    """The example with its first claim alone."""
    path = folder / "x.claims.toml"
    path.write_text(text[: text.index('[[claim]]\nid = "C2"')])
    return load(path)


def _two(text: str) -> str:
    """The first claim with two parts."""
    return text.replace('where = { link = "lossy" }', 'over = { link = ["clean", "lossy"] }', 1)


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


def test_of_two_campaigns_at_one_point_the_larger_speaks_whatever_it_says(claims: Claims) -> None:
    small = source(claim("C1", [row("confirmed", estimate(2.0, n=50), rtt="2 ms")], n=50), exchanges=500)
    large = source(claim("C1", [row("inconclusive", estimate(1.1, n=90), rtt="2 ms")], n=90), exchanges=900)
    for order in ((small, large), (large, small)):
        found = _first(claims, *order)
        assert (found["verdict"], found["n"], len(found["points"])) == ("inconclusive", 90, 1)


def test_of_two_campaigns_with_equal_plans_a_time_out_does_not_decide_which_speaks(claims: Claims) -> None:
    one = source(claim("C1", [row("inconclusive", estimate(1.1, n=99), rtt="2 ms")], n=99))
    two = source(claim("C1", [row("confirmed", estimate(2.0, n=100), rtt="2 ms")], n=100))
    found = _first(claims, one, two)
    assert (found["verdict"], found["points"][0]["standing"], found["points"][0]["campaign"]) == (
        "inconclusive", "inconclusive", 0,
    )  # fmt: skip


def test_a_part_that_was_written_later_comes_from_the_campaigns_that_have_it(tmp_path: Path) -> None:
    claims = _claims(tmp_path, FILE.replace('[[claim]]\nid = "C2"', f'{LATER}[[claim]]\nid = "C2"'))
    old = source(claim("C1", [row("confirmed", estimate(2.0), rtt="2 ms")]), exchanges=900)
    parts = [part("inconclusive", 50), part("contradicted", 50)]
    new = source(claim("C1", [row("inconclusive", estimate(1.1), rtt="2 ms")], parts=parts), exchanges=100)
    without = source(claim("C1", [row("inconclusive", estimate(1.1), rtt="2 ms")]), exchanges=100)
    for sources, before in (((old, new), (old, without)), ((new, old), (without, old))):
        found, expected = _first(claims, *sources), _first(claims, *before)
        assert {**found, "parts": found["parts"][:1]} == expected
        assert [each["verdict"] for each in found["parts"]] == ["confirmed", "contradicted"]
        assert found["parts"][1].get("title") == "of answered requests alone, written on 2026-11-29 after data existed"
    assert [each["verdict"] for each in _first(claims, old)["parts"]] == ["confirmed"]


def test_a_claim_in_one_part_may_consist_of_cells(tmp_path: Path) -> None:
    existence = """form = "existence"
metric = "delay"
over = { link = ["clean", "lossy"] }
upper = { protocol = "h2" }
lower = { protocol = "h3" }
"""
    before, after = FILE.split('form = "order"', 1)
    claims = _claims(tmp_path, before + existence + after[after.index("[[claim]]") :])
    cells: list[Any] = [{**part("confirmed", 50), "parts": []}, part("inconclusive", 50)]
    for each in cells:
        del each["id"]
    found = _first(claims, source(claim("C1", [row("confirmed", rtt="2 ms")], parts=cells)))
    assert (found["verdict"], [each["id"] for each in found["parts"]]) == ("confirmed", ["C1.1"])


def test_with_an_outlier_rule_one_campaign_speaks_for_a_whole_claim(tmp_path: Path) -> None:
    """Each has one part that survives the rule, and by the rule neither claim is confirmed whole."""
    claims = _claims(tmp_path, _two(RULED))
    parts = [part("confirmed", 100), part("inconclusive", 50)]
    one, other = (
        source(claim("C1", [row("inconclusive", None, "inconclusive", rtt="2 ms")], parts=each))
        for each in (parts, [*reversed(parts)])
    )
    found = _first(claims, one, other)
    assert (found["verdict"], [each["campaign"] for each in found["parts"]]) == ("inconclusive", [0, 0])


def test_without_a_primary_interpretation_parts_are_of_one_point(tmp_path: Path) -> None:
    claims = _claims(tmp_path, _two(FILE).replace('primary = "lan"', ""))
    parts = [part("confirmed", 100), part("inconclusive", 0)]
    one = source(claim("C1", [row("inconclusive", rtt="2 ms")], parts=parts))
    two = source(claim("C1", [row("inconclusive", rtt="20 ms")], parts=[*reversed(parts)]), exchanges=9000)
    found = _first(claims, one, two)
    assert [each["campaign"] for each in found["parts"]] == [0, 0]
    assert (found["shown"], found["levels"]["link.rtt"]) == ("inconclusive", "2 ms")
    fitted = source(claim("C1", [row("confirmed", rtt="4 ms")], parts=[part("confirmed", 100)] * 2))
    assert _first(claims, fitted, two)["shown"] == "fitted"


def test_a_part_of_which_a_scenario_is_missing_does_not_speak_before_a_whole_one(tmp_path: Path) -> None:
    claims = _claims(tmp_path, _two(FILE))
    absent = {**row("inconclusive", rtt="2 ms"), "missing": True}
    large = source(claim("C1", [absent], parts=[part("inconclusive", 500), part("confirmed", 500)]), exchanges=9000)
    whole = source(claim("C1", [row("confirmed", rtt="2 ms")], parts=[part("confirmed", 100)] * 2))
    found = _first(claims, large, whole)
    assert (found["verdict"], [each["campaign"] for each in found["parts"]]) == ("confirmed", [1, 0])


def test_a_claim_whose_scenarios_were_not_run_at_the_primary_has_no_verdict(claims: Claims) -> None:
    absent = {**row("inconclusive", rtt="2 ms"), "missing": True}
    found = _first(claims, source(claim("C1", [absent], n=0)))
    over = found["over_grid"]
    assert over is not None
    assert (found["verdict"], found["shown"], found["needed"], over["interpretations"]["lan"]) == (None,) * 4


def test_the_grid_has_the_verdict_of_all_campaigns_at_the_primary(tmp_path: Path) -> None:
    """Neither campaign confirms both parts alone, so that a rule of its own for the grid would contradict the table."""
    parts = [part("confirmed", 100), part("inconclusive", 0)]
    one, other = (
        source(claim("C1", [row("inconclusive", rtt="2 ms")], parts=each)) for each in (parts, [*reversed(parts)])
    )
    found = _first(_claims(tmp_path, _two(FILE)), one, other)
    over = found["over_grid"]
    assert over is not None
    assert (found["verdict"], over["interpretations"]["lan"], over["confirmed"]) == ("confirmed", "confirmed", 1)
    assert [(each["standing"], each["n"]) for each in found["points"]] == [("confirmed", 200)]


def test_campaigns_of_a_file_without_choices_may_vary_different_factors(tmp_path: Path) -> None:
    text = FILE[: FILE.index("[[choice]]")].replace('primary = "lan"\n', "") + FILE[FILE.index("[[claim]]") :]
    rows = [row("confirmed", rtt="2 ms"), row("contradicted", connection="new")]
    found = _first(_claims(tmp_path, text), *(source(claim("C1", [each]), name=each["verdict"]) for each in rows))
    assert (found["verdict"], len(found["points"])) == ("confirmed", 2)


def test_a_part_that_the_confirmatory_run_lacks_comes_from_another_of_the_interpretation(tmp_path: Path) -> None:
    claims = _claims(tmp_path, _two(FILE))
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
    assert found["verdicts"] == ["confirmed", by_rule]
    assert found["parts"][0]["bounds"] == [1.0]
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


def test_more_values_decide_nothing_if_the_outlier_rule_has_decided_otherwise(tmp_path: Path) -> None:
    """The interval would confirm it with more values."""
    claims = _claims(tmp_path, RULED)
    wide = {**estimate(1.1, 0.8, 1.5), "of": ""}

    def needed(by_rule: str) -> Needed:
        judged = row("inconclusive", estimate(1.1, 0.8, 1.5), by_rule, rtt="2 ms")
        found = _first(claims, source(claim("C1", [judged], judged=[wide])))["needed"]
        assert found is not None
        return found

    assert needed("confirmed")["n"] is not None
    assert (needed("contradicted")["n"], needed("contradicted")["why"]) == (None, BY_RULE)


def test_a_part_of_the_virtual_clock_has_what_the_live_campaign_of_its_point_finds(claims: Claims) -> None:
    virtual = source(claim("C1", [row("confirmed", estimate(2.0), rtt="2 ms")]), exchanges=9000)
    live = source(claim("C1", [row("inconclusive", estimate(1.9, 0.9, 3.0), rtt="2 ms")]), name="live")
    elsewhere = source(claim("C1", [row("contradicted", estimate(0.5), rtt="20 ms")]), name="elsewhere")
    live.summary["clock"] = elsewhere.summary["clock"] = "live"
    [part] = _first(claims, virtual, elsewhere, live)["parts"]
    ours = estimate(1.9, 0.9, 3.0)
    assert part["live"] == {
        "verdict": "inconclusive", "why": "because", "ours": ours, "link": None, "campaign": 2,
    }  # fmt: skip
    larger = source(claim("C1", [row("confirmed", estimate(2.1), rtt="2 ms")]), name="larger", exchanges=2000)
    larger.summary["clock"] = "live"
    assert _first(claims, virtual, live, larger)["parts"][0]["live"]["campaign"] == 2
    assert "live" not in _first(claims, virtual, elsewhere)["parts"][0]
    assert "live" not in _first(claims, live)["parts"][0]


def test_each_point_of_a_claim_in_parts_has_the_values_of_its_scenarios(tmp_path: Path) -> None:
    claims = _claims(tmp_path, _two(FILE))
    parts = [part("confirmed", 300, estimate(2.0)), part("confirmed", 300, estimate(3.0))]
    rows = [row("confirmed", rtt="2 ms"), row("contradicted", estimate(0.5, n=7), rtt="20 ms")]
    scenarios = [scenario(*at, "20 ms", 0.02) for at in (("h2", "clean"), ("h3", "clean"), ("h2", "lossy"))]
    found = _first(claims, source(claim("C1", rows, n=600, parts=parts), scenarios=scenarios))
    assert [each["n"] for each in found["points"]] == [600, 300]
