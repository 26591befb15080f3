from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from wirelab.stats.estimate.proportion import clopper_pearson, effective_size, ranks, share


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


def test_ranks_of_independent_values_are_the_binomial_ones() -> None:
    # The classic table: for n = 10 the median lies between the 2nd and the 9th value with 97.9 %.
    below = np.arange(10) < 5
    assert ranks(below, np.zeros(10, dtype=np.int64), 0.5, 0.95) == (2, 9)


def test_five_values_do_not_enclose_a_median() -> None:
    assert ranks(np.arange(5) < 3, np.zeros(5, dtype=np.int64), 0.5, 0.95) is None
