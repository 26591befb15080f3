import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab_energy import Range

NUMBERS = st.floats(0, 1e9)
RANGES = st.builds(lambda a, b, c: Range(*sorted((a, b, c))), NUMBERS, NUMBERS, NUMBERS)


def test_bounds_are_in_order() -> None:
    with pytest.raises(ValueError, match="not in order"):
        Range(2, 1, 3)


def test_a_sum_adds_bounds_to_bounds() -> None:
    assert Range(1, 2, 3) + Range(10, 20, 40) == Range(11, 22, 43)
    assert Range.total([]) == Range.exact(0)


def test_a_larger_divisor_leaves_less() -> None:
    assert Range(1, 2, 4).divides(8) == Range(2, 4, 8)
    assert Range(0, 1, 2).divides(2).high == float("inf")


@given(RANGES, RANGES, st.floats(0, 1e3))
def test_sums_and_scaling_keep_the_order(one: Range, other: Range, factor: float) -> None:
    for made in (one + other, one * factor, one.divides(1)):
        assert made.low <= made.typical <= made.high


def test_what_spans_numbers_keeps_the_typical_one_inside() -> None:
    assert Range.spanning(2, 5, 1) == Range(1, 2, 5)
    assert Range.exact(2) == Range(2, 2, 2)


def test_bounds_that_read_the_same_are_said_once() -> None:
    assert Range(1, 2, 4).said(lambda number: f"{number:.3g} J") == "2 J [1 J, 4 J]"
    assert Range(2 - 1e-9, 2, 2 + 1e-9).said(lambda number: f"{number:.3g} J") == "2 J"
