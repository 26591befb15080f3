from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from wirelab.stats.estimate.proportion import (
    Share,
    ShareDifference,
    clopper_pearson,
    effective_size,
    enclosing,
    share,
    value_at,
)
from wirelab.stats.estimate.sample import Sample


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_clopper_pearson_is_that_of_scipy(counts: tuple[int, int]) -> None:
    successes, n = counts
    reference = binomtest(successes, n).proportion_ci(0.95, "exact")
    assert clopper_pearson(successes, n, 0.95) == pytest.approx((reference.low, reference.high), abs=1e-9)


def test_the_effective_n_of_identical_values_within_trials_is_the_number_of_trials() -> None:
    worth = effective_size([100, 0] * 15, [100] * 30, 0.95)
    assert 20 < worth < 31


def test_the_effective_n_is_at_most_the_number_of_values() -> None:
    assert effective_size([50] * 30, [100] * 30, 0.95) == 3000


def test_values_of_one_trial_count_as_independent() -> None:
    assert effective_size([10], [100], 0.95) == 100


def test_the_interval_of_a_share_covers_it_when_trials_differ() -> None:
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(300):
        chances = rng.beta(3, 7, 20)
        estimate = share(rng.binomial(50, chances).tolist(), [50] * 20, 0.95)
        assert estimate.low is not None and estimate.high is not None
        covered += estimate.low <= 0.3 <= estimate.high
    assert covered / 300 >= 0.91


def test_limits_of_independent_values_lie_within_the_binomial_ranks() -> None:
    # The classic table: for n = 10 the median lies between the 2nd and the 9th value with 97.9 %.
    places = enclosing([5], [10], 0.5, 0.95)
    assert places is not None
    assert 2 < places[0] < 3 and 8 < places[1] < 9


def test_five_values_do_not_enclose_a_median() -> None:
    assert enclosing([3], [5], 0.5, 0.95) is None


def test_trials_that_are_alike_by_chance_do_not_widen_an_interval_unless_it_is_cautious() -> None:
    below, sizes = [6, *[5] * 8, 4], [10] * 10
    usual, cautious = (enclosing(below, sizes, 0.5, 0.95, cautious=each) for each in (False, True))
    assert usual is not None and cautious is not None
    assert cautious[0] < usual[0] < usual[1] < cautious[1]


def test_few_trials_count_no_more_values_than_there_are() -> None:
    below, sizes = [5] * 4, [10] * 4
    assert enclosing(below, sizes, 0.5, 0.95) == enclosing(below, sizes, 0.5, 0.95, cautious=True)


def test_a_place_between_two_values_is_between_them_and_infinite_next_to_infinity() -> None:
    values = np.array([1.0, 2.0, np.inf])
    assert [value_at(values, place) for place in (1, 1.25, 2, 2.5, 3)] == [1, 1.25, 2, np.inf, np.inf]


def test_a_share_beyond_a_bound_counts_censored_values_as_beyond() -> None:
    found = Share.beyond(Sample.of([[0.5, 1.0, 1.5], [2.0]], [1, 0]), 1.0)
    assert (found.successes, found.sizes, found.n, found.point) == ((2, 1), (4, 1), 5, 0.6)
    assert found.estimate(0.95) == share([2, 1], [4, 1], 0.95)


def test_a_share_that_is_unknown_has_no_interval() -> None:
    unknown = Share((1,), (10,), (False, False))
    for found in (unknown, ShareDifference(Share((1,), (10,)), unknown)):
        estimate = found.estimate(0.95)
        assert (estimate.low, estimate.high, estimate.method) == (None, None, "no interval: time-outs leave it unknown")


def test_the_difference_of_shares_has_the_published_interval() -> None:
    # Both limits of each share are Clopper and Pearson's here, and not Wilson's as in Newcombe's table (1998).
    difference = ShareDifference(Share((56,), (70,)), Share((48,), (80,)))
    estimate = difference.estimate(0.95)
    assert estimate.point == pytest.approx(0.2)
    assert estimate.low == pytest.approx(0.0524, abs=0.02)
    assert estimate.high == pytest.approx(0.3339, abs=0.02)


def test_no_successes_on_either_side_leave_the_difference_open() -> None:
    low, high = ShareDifference(Share((0,), (20,)), Share((0,), (20,))).interval(0.95)
    assert low == pytest.approx(-high) == pytest.approx(-0.168, abs=0.001)


def test_the_interval_of_a_difference_of_shares_covers_it_when_trials_differ() -> None:
    rng = np.random.default_rng(9)
    covered = 0
    for _ in range(300):
        sides = [
            Share(tuple(rng.binomial(50, rng.beta(*shape, 20)).tolist()), (50,) * 20) for shape in ((3, 7), (1, 19))
        ]
        low, high = ShareDifference(*sides).interval(0.95)
        covered += low <= 0.25 <= high
    assert covered / 300 >= 0.93
