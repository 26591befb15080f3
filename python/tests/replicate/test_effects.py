"""Effects of the parts of a claim, from estimates."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.claims.grids import FILE
from tests.replicate.sources import claim, estimate, part, row, source
from wirelab.claims.load import Claims, load
from wirelab.replicate.combine import combine
from wirelab.replicate.effects import effects

MEANS = {("h2", "clean"): 0.04, ("h3", "clean"): 0.02, ("h2", "lossy"): 0.09, ("h3", "lossy"): 0.03}


def scenario(protocol: str, link: str, rtt: str, mean: float) -> dict[str, Any]:
    levels = {"protocol": protocol, "link": link, "link.rtt": rtt}
    key = " ".join(levels.values())
    plan = SimpleNamespace(key=key, protocol=protocol, link_name=link, points=(levels,), levels=levels)
    metrics = {name: {"unit": "s", "mean": estimate(mean * times), "sd": estimate(None)}
               for name, times in (("end-to-end-delay", 1.0), ("response-time", 2.0))}  # fmt: skip
    return {"plan": plan, "estimates": {"key": key, "metrics": metrics}}


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
        assert effects(forms, claims, ran, at) == [pytest.approx(2.0), pytest.approx(3.0)]
    assert effects(forms, claims, ran, {"delay": "response-time", "link.rtt": "2 ms"}) == [None, None]


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
