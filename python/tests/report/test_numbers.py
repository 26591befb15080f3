"""Digits, dashes and units."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wirelab.report.numbers import COUNT, DASH, MILLISECONDS, Estimate, interval, p_value, plain, with_unit
from wirelab.schema.estimates import EXACT, EXACT_IN_PHASES


def estimate(point: float | None, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(point, low, high, 0.95, 100, "made up")


@pytest.mark.parametrize(
    ("point", "low", "high", "expected"),
    [
        (0.0620, 0.0610, 0.0631, "62.0 [61.0, 63.1]"),
        (0.0620, 0.0570, 0.0671, "62 [57, 67]"),
        (0.4876, 0.4401, 0.5467, "490 [440, 550]"),
        (1.0571, 1.0570, 1.0572, "1,057.1 [1,057.0, 1,057.2]"),
        (0.0407, 0.0407, 0.0407, "40.7 [40.7, 40.7]"),
    ],
)
def test_an_interval_decides_the_digits(point: float, low: float, high: float, expected: str) -> None:
    assert interval(estimate(point, low, high), MILLISECONDS) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0299, 39_139.2, "3,900 [0.03, 39,100]"),
        (0.0, 39_139.2, "3,900 [0, 39,100]"),
        (-8000.0, -0.2, "3,900 [−8,000, −0.2]"),
    ],
)
def test_a_nonzero_bound_is_not_rounded_to_0(low: float, high: float, expected: str) -> None:
    assert interval(estimate(3900.0, low, high), COUNT) == expected


def test_an_exact_0_of_an_estimate_is_shown_as_0() -> None:
    assert interval(estimate(0.0, 0.0, 0.0026), COUNT) == "0 [0, 0.0026]"
    assert interval(estimate(0.029, 0.0, 0.114), COUNT) == "0.029 [0, 0.114]"


def test_a_point_never_shows_less_than_two_digits() -> None:
    assert interval(estimate(1.02, 1.01, 7.2), COUNT) == "1.0 [1.0, 7.2]"


def test_counts_are_whole() -> None:
    assert interval(estimate(17, 15, 19), COUNT) == "17 [15, 19]"


def test_a_missing_number_is_a_dash_and_never_0() -> None:
    assert interval(None, MILLISECONDS) == DASH
    assert interval(estimate(0.123, 0.104, None), MILLISECONDS) == "123 [104, ∞)"
    assert interval(estimate(0.123, None, None), MILLISECONDS) == "123"
    assert interval(estimate(None), MILLISECONDS) == DASH
    assert plain(None) == plain(float("nan")) == DASH


def test_an_exact_0_is_shown_as_0() -> None:
    assert plain(0.0) == "0.00"
    assert plain(-0.0001, 2) == "0.00"


def test_the_unit_stands_next_to_the_point() -> None:
    assert with_unit(estimate(0.062, 0.061, 0.063), MILLISECONDS) == "62.0 ms [61.0, 63.0]"


def test_what_does_not_vary_has_all_its_digits_and_says_for_what_it_holds() -> None:
    found = replace(estimate(0.0400214, 0.0400214, 0.0400214), method=EXACT)
    assert interval(found, MILLISECONDS) == "40.021 [exact for this phase]"
    assert with_unit(found, MILLISECONDS) == "40.021 ms [exact for this phase]"
    assert interval(replace(found, point=778.0), COUNT) == "778 [exact for this phase]"
    assert interval(replace(found, method=EXACT_IN_PHASES), MILLISECONDS) == "40.021 [exact in every phase tried]"


def test_a_tiny_p_value_is_a_bound() -> None:
    assert p_value(0.0002) == "< 0.001"
    assert p_value(0.04) == "0.040"


def test_null_and_missing_estimates_are_distinguished_from_numbers() -> None:
    assert Estimate.of(None) is None
    above = Estimate.of(
        {"point": None, "low": None, "high": None, "level": 0.95, "n": 3, "method": "above the time-out"}
    )
    assert above is not None
    assert above.point is None
    assert above.method == "above the time-out"
