"""Claims over hand-made grids of choices."""

from __future__ import annotations

from itertools import product

from wirelab.claims.over_grid import Point, over_grid
from wirelab.schema.verdicts import OverGrid, Verdict

GRID = [{"rtt": rtt, "tls": tls} for rtt, tls in product(("2 ms", "20 ms"), ("1.2", "1.3"))]


def _over(*points: Point) -> OverGrid:
    return over_grid(points, 4, {})


def _points(*verdicts: Verdict) -> list[Point]:
    return [
        Point(levels, verdict, effect=1.0 + i) for i, (levels, verdict) in enumerate(zip(GRID, verdicts, strict=True))
    ]


def test_a_claim_with_one_verdict_everywhere_is_robust_and_no_choice_decides_it() -> None:
    found = _over(*_points("confirmed", "confirmed", "confirmed", "confirmed"))
    assert (found["points"], found["confirmed"], found["robust"], found["deciding"]) == (4, 4, True, None)


def test_a_claim_that_no_point_decides_is_not_robust() -> None:
    found = _over(*_points("inconclusive", "inconclusive", "inconclusive", "inconclusive"))
    assert (found["not_decided"], found["robust"], found["deciding"]) == (4, False, None)


def test_a_claim_that_flips_with_one_choice_names_it() -> None:
    found = _over(*_points("confirmed", "confirmed", "contradicted", "contradicted"))
    assert (found["confirmed"], found["contradicted"], found["robust"]) == (2, 2, False)
    assert found["deciding"] == {"path": "rtt", "flips": 2, "pairs": 2}


def test_of_two_choices_that_interact_the_one_that_flips_more_pairs_decides() -> None:
    points = [
        Point({"rtt": rtt, "tls": tls}, "contradicted" if rtt == "20 ms" and tls != "1.2" else "confirmed")
        for rtt, tls in product(("2 ms", "20 ms"), ("1.2", "1.3", "psk"))
    ]
    found = _over(*points)
    assert (found["confirmed"], found["contradicted"]) == (4, 2)
    assert found["deciding"] == {"path": "rtt", "flips": 2, "pairs": 3}


def test_an_inconclusive_neighbour_flips_nothing() -> None:
    found = _over(*_points("confirmed", "inconclusive", "inconclusive", "confirmed"))
    assert (found["not_decided"], found["deciding"]) == (2, None)


def test_the_range_has_the_levels_of_its_ends() -> None:
    found = _over(*_points("confirmed", "confirmed", "confirmed", "contradicted"))
    assert found["effect"] == {
        "least": {"value": 1.0, "levels": GRID[0]}, "largest": {"value": 4.0, "levels": GRID[3]},
    }  # fmt: skip


def test_a_claim_stands_outside_every_count_where_it_is_fitted() -> None:
    fitted = Point(GRID[3], "confirmed", effect=99.0, fitted=True)
    found = _over(*_points("contradicted", "contradicted", "contradicted", "inconclusive")[:3], fitted)
    assert (found["points"], found["confirmed"], found["contradicted"], found["fitted"]) == (3, 0, 3, 1)
    assert found["robust"]
    assert found["deciding"] is None
    assert found["effect"] is not None
    assert found["effect"]["largest"]["value"] == 3.0


def test_missing_points_and_points_outside_the_grid_do_not_count() -> None:
    missing = Point(GRID[2], "inconclusive", missing=True)
    outside = Point({"rtt": "7 ms", "tls": "1.2"}, "contradicted", effect=0.1, outside=True)
    found = _over(*_points("confirmed", "confirmed", "inconclusive", "inconclusive")[:2], missing, outside)
    assert (found["size"], found["points"], found["missing"], found["outside"]) == (4, 2, 1, 1)
    assert (found["confirmed"], found["contradicted"], found["robust"]) == (2, 0, True)


def test_a_verdict_that_the_outlier_rule_changes_is_not_decided() -> None:
    points = [
        Point(GRID[0], "confirmed", by_rule="contradicted"), Point(GRID[1], "inconclusive", by_rule="confirmed"),
        Point(GRID[2], "contradicted", by_rule="contradicted"), Point(GRID[3], "inconclusive", by_rule="inconclusive"),
    ]  # fmt: skip
    found = _over(*points)
    assert (found["confirmed"], found["contradicted"], found["not_decided"]) == (0, 1, 3)
    assert found["depends_on_outlier_rule"] == 2
    assert [point.standing for point in points[:2]] == ["depends-on-outlier-rule"] * 2


def test_no_points_give_no_range() -> None:
    found = _over()
    assert (found["points"], found["effect"], found["robust"]) == (0, None, False)


def test_a_choice_that_changes_the_estimate_by_less_than_one_percent_decides_nothing() -> None:
    found = over_grid([
        Point({"a": "1", "b": "1"}, "confirmed", effect=1.0003),
        Point({"a": "2", "b": "1"}, "contradicted", effect=0.9998),
        Point({"a": "1", "b": "2"}, "contradicted", effect=0.9),
    ], None, {})  # fmt: skip
    assert found["deciding"] == {"path": "b", "flips": 1, "pairs": 1}
