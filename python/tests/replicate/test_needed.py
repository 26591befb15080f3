"""How many values would decide a claim."""

from __future__ import annotations

import math

import pytest

from tests.replicate.sources import estimate, part, source
from wirelab.claims.forms.causal_contrast import CausalContrast
from wirelab.claims.forms.equivalence import Equivalence
from wirelab.claims.forms.order import Order
from wirelab.claims.forms.trend import Trend
from wirelab.claims.part import Along, Form
from wirelab.replicate.needed import bounds_of, needed, times_as_many
from wirelab.schema.replication import ReplicatedPart

ORDER = Order(form="order", metric="delay", ascending=[{"protocol": "h3"}, {"protocol": "h2"}])
EQUAL = Equivalence(form="equivalence", metric="delay", upper={"protocol": "h2"}, lower={"protocol": "h3"}, margin=2)


def _part(point: float, low: float | None, high: float | None, n: int = 100) -> ReplicatedPart:
    ours = estimate(point, low, high, n)
    return {**part("inconclusive", n, ours), "decides": True, "campaign": 0, "judged": [{"of": "", **ours}]}  # type: ignore[typeddict-item, return-value]


def test_an_interval_that_reaches_twice_as_far_as_the_bound_needs_four_times_as_many() -> None:
    """The estimate is e above the bound of 1, and its interval reaches down by e squared."""
    times, inside = times_as_many((1.0, None), math.e, 1 / math.e, math.e**3)
    assert times == pytest.approx(4)
    assert inside
    times, inside = times_as_many((1.0, None), 1 / math.e, math.e**-3, math.e)
    assert times == pytest.approx(4)
    assert not inside


def test_quantities_of_any_sign_are_compared_as_they_are() -> None:
    assert times_as_many((0.0, None), 1.0, -2.0, 4.0) == (9.0, True)
    assert times_as_many((0.0, None), 0.0, -1.0, 1.0)[0] == math.inf


def test_inside_two_bounds_both_must_be_excluded() -> None:
    times, inside = times_as_many((1 / math.e, math.e), 1.0, math.e**-3, math.e**2)
    assert (times, inside) == (pytest.approx(9), True)


def test_hours_are_those_of_the_campaign_at_its_pace() -> None:
    found = needed([ORDER], [_part(math.e, 1 / math.e, math.e**3)], [source()], 1.25)
    assert found["n"] == 400
    assert found["hours"] == pytest.approx(300 * 0.36 / 3600)
    assert found["why"] == "4 times as many values would confirm it, if the estimate stays"


def test_one_part_beyond_its_bounds_is_enough_and_else_the_worst_part_counts() -> None:
    near, far = _part(math.e, 1 / math.e, math.e**3), _part(math.sqrt(math.e), 1 / math.e, math.e**3)
    forms: list[Form] = [ORDER, ORDER]
    assert needed(forms, [near, far], [source()], 1.25)["n"] == 900
    below = _part(1 / math.e, math.e**-3, math.e)
    assert needed(forms, [below, far], [source()], 1.25)["why"].startswith("4 times as many values would contradict it")


def test_an_estimate_on_the_bound_says_so() -> None:
    found = needed([EQUAL], [_part(2.0, 1.0, 4.0)], [source()], 1.25)
    assert (found["n"], found["hours"]) == (None, None)
    assert "lies on the bound" in found["why"]


def test_without_an_interval_or_a_bound_the_reason_stands() -> None:
    assert "so few trials" in needed([ORDER], [_part(2.0, None, None)], [source()], 1.25)["why"]
    other: ReplicatedPart = {**_part(2.0, 1.5, 2.5), "judged": []}
    assert needed([ORDER], [other], [source()], 1.25)["why"] == "its reason"


def test_a_trend_is_a_factor_a_level_so_that_its_bound_is_1() -> None:
    along = Along(path="x", levels=["1", "2"])
    falling = Trend(form="trend", metric="delay", upper={}, along=along, direction="falling")
    found = needed([falling], [_part(1 / math.e, math.e**-3, math.e)], [source()], 1.25)
    assert (found["n"], found["why"][:38]) == (400, "4 times as many values would confirm i")


def test_the_bounds_of_a_part_are_those_that_its_interval_must_leave_out() -> None:
    contrast = CausalContrast(
        form="causal-contrast", metric="delay", upper={"protocol": "h2"}, lower={"protocol": "h3"},
        treated={"link": "lossy"}, control={"link": "clean"}, expect="equal",
    )  # fmt: skip
    assert [bounds_of(form, 1.25) for form in (ORDER, EQUAL, contrast)] == [[1.0], [0.5, 2.0], [0.0]]
