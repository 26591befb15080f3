"""Effects of the parts of a claim, from estimates."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.claims.grids import FILE
from tests.replicate.sources import claim, estimate, part, row, scenario, source
from wirelab.claims.forms import FORMS
from wirelab.claims.load import Claims, load
from wirelab.replicate.combine import combine
from wirelab.replicate.effects import PartAt, parts_at

MEANS = {("h2", "clean"): 0.04, ("h3", "clean"): 0.02, ("h2", "lossy"): 0.09, ("h3", "lossy"): 0.03}


@pytest.fixture
def claims(tmp_path: Path) -> Claims:
    """The example with its first claim alone, in two parts."""
    text = FILE[: FILE.index('[[claim]]\nid = "C2"')]
    path = tmp_path / "x.claims.toml"
    path.write_text(text.replace('where = { link = "lossy" }', 'over = { link = ["clean", "lossy"] }', 1))
    return load(path)


def test_each_part_has_its_effect_at_the_levels_of_a_row(claims: Claims) -> None:
    ran = source(scenarios=[scenario(*at, "20 ms", mean) for at, mean in MEANS.items()])
    forms = [form for written in claims.claims[0].parts for form in written.expand()]
    for delay in ("end-to-end-delay", "response-time"):
        at = {"delay": delay, "link.rtt": "20 ms"}
        found = parts_at(forms, claims, ran, at)
        assert [each.effect for each in found] == [pytest.approx(2.0), pytest.approx(3.0)]
        assert [(each.exchanges, each.whole) for each in found] == [(100, True)] * 2
        assert [sum(each.values.values()) for each in found] == [200] * 2
    nowhere = PartAt(None, 0, False, {})
    assert parts_at(forms, claims, ran, {"delay": "response-time", "link.rtt": "2 ms"}) == [nowhere] * 2


def test_a_part_has_no_effect_where_an_estimate_does_not_give_it(claims: Claims) -> None:
    ran = source(scenarios=[scenario(*at, "20 ms", mean) for at, mean in MEANS.items()])
    [first, *_] = [form for written in claims.claims[0].parts for form in written.expand()]
    cut = first.model_copy(update={"horizon": 10**9})
    [found] = parts_at([cut], claims, ran, {"link.rtt": "20 ms"})
    assert (found.effect, found.exchanges, found.whole) == (None, 100, True)


def test_what_a_cause_adds_and_where_a_quantity_bends_follow_from_estimates(claims: Claims) -> None:
    ran = source(scenarios=[scenario(*at, "20 ms", mean) for at, mean in MEANS.items()])
    h2, h3 = {"protocol": "h2"}, {"protocol": "h3"}
    lossy = {"treated": {"link": "lossy"}, "control": {"link": "clean"}}
    cause = FORMS["causal-contrast"].model_validate(
        {"form": "causal-contrast", "metric": "delay", "upper": h2, "lower": h3, "expect": "equal", **lossy}
    )
    bend = FORMS["bend"].model_validate({
        "form": "bend", "metric": "delay", "upper": h2, "lower": h3, "direction": "rising",
        "along": {"path": "link", "levels": ["clean", "lossy"]}, "published": ["clean", "lossy"],
    })  # fmt: skip
    found = parts_at([cause, bend], claims, ran, {"link.rtt": "20 ms"})
    assert [each.effect for each in found] == [pytest.approx(0.05 / 0.01), 0.0]
    swapped = {"treated": lossy["control"], "control": lossy["treated"]}
    taken_away = parts_at([cause.model_copy(update=swapped)], claims, ran, {"link.rtt": "20 ms"})
    assert [each.effect for each in taken_away] == [None]


def test_the_campaign_with_more_exchanges_in_the_scenarios_of_a_part_speaks_for_it(claims: Claims) -> None:
    """The first is larger in all, and has fewer where the claim looks."""
    parts = [part("inconclusive", 100, estimate(1.5)), part("inconclusive", 100, estimate(5.0))]
    few, many = (
        [{**each, "estimates": {**each["estimates"], "denominators": {"exchanges": number}}}
         for each in (scenario(*at, "2 ms", mean) for at, mean in MEANS.items())]
        for number in (10, 160)
    )  # fmt: skip
    mixed = source(claim("C1", [row("inconclusive", rtt="2 ms")], parts=parts), exchanges=9000, scenarios=few)
    single = source(claim("C1", [row("confirmed", rtt="2 ms")], parts=parts), exchanges=1000, scenarios=many)
    found = combine(claims, [mixed, single])["claims"][0]
    assert [each["campaign"] for each in found["parts"]] == [1, 1]
    assert found["points"][0]["campaign"] == 1


def test_a_campaign_without_one_of_the_levels_does_not_speak_for_a_part(claims: Claims) -> None:
    parts = [part("inconclusive", 100, estimate(1.5)), part("inconclusive", 100, estimate(5.0))]
    whole, half = (
        source(
            claim("C1", [row("inconclusive", rtt="2 ms")], parts=parts),
            scenarios=[scenario(*at, "2 ms", mean) for at, mean in MEANS.items() if at in kept],
        )
        for kept in (MEANS, [at for at in MEANS if at != ("h3", "lossy")])
    )
    found = combine(claims, [half, whole])["claims"][0]
    assert [each["campaign"] for each in found["parts"]] == [0, 1]


def test_a_part_ranges_from_where_it_is_judged_over_the_points_of_all_campaigns(claims: Claims) -> None:
    parts = [part("confirmed", 100, estimate(1.5)), part("confirmed", 100, estimate(5.0))]
    judged = source(claim("C1", [row("confirmed", rtt="2 ms")], parts=parts), exchanges=9000)
    around = source(
        claim("C1", [row("confirmed", rtt="20 ms")], parts=parts),
        scenarios=[scenario(*at, "20 ms", mean) for at, mean in MEANS.items()],
    )
    first, second = combine(claims, [judged, around])["claims"][0]["parts"]
    assert [first["range"][end]["value"] for end in ("least", "largest")] == [1.5, pytest.approx(2.0)]
    assert [second["range"][end]["value"] for end in ("least", "largest")] == [pytest.approx(3.0), 5.0]
    assert second["range"]["least"]["levels"]["link.rtt"] == "20 ms"


def test_a_claim_in_one_part_has_the_range_of_its_grid_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE[: FILE.index('[[claim]]\nid = "C2"')])
    found = combine(load(path), [source(claim("C1", [row("confirmed", estimate(2.0), rtt="2 ms")]))])["claims"][0]
    assert "range" not in found["parts"][0]
    assert found["over_grid"] is not None
    assert found["over_grid"]["effect"] is not None
