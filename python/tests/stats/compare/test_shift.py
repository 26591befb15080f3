from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from wirelab.stats.compare.shift import Pair, cliffs_delta, difference, hodges_lehmann, permutation_p
from wirelab.stats.estimate.sample import Sample

NUMBERS = st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=15)


@given(NUMBERS, NUMBERS)
def test_every_ranked_difference_is_that_of_the_full_table(a: list[float], b: list[float]) -> None:
    table = np.sort(np.subtract.outer(a, b).ravel())
    ranked = [difference(np.sort(a), np.sort(b), rank) for rank in range(1, len(table) + 1)]
    assert ranked == pytest.approx(table.tolist(), abs=1e-9)


@given(NUMBERS, NUMBERS)
def test_hodges_lehmann_is_the_median_of_all_differences(a: list[float], b: list[float]) -> None:
    point = hodges_lehmann(Pair(Sample.of([a]), Sample.of([b]))).point
    assert point == pytest.approx(float(np.median(np.subtract.outer(a, b))))


@given(NUMBERS, NUMBERS)
def test_cliffs_delta_is_that_of_mann_and_whitney(a: list[float], b: list[float]) -> None:
    statistic = mannwhitneyu(a, b, method="asymptotic").statistic
    delta = cliffs_delta(Pair(Sample.of([a]), Sample.of([b]))).point
    assert delta == pytest.approx(2 * statistic / (len(a) * len(b)) - 1)


def test_a_shift_is_found_and_enclosed() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        a = Sample.of(rng.exponential(1, (10, 30)) + 0.3)
        b = Sample.of(rng.exponential(1, (10, 30)))
        estimate = hodges_lehmann(Pair(a, b))
        assert estimate.low is not None and estimate.high is not None
        covered += estimate.low <= 0.3 <= estimate.high
    assert covered / 200 >= 0.9


def test_timed_out_values_rank_above_all_others_and_tie() -> None:
    completed, late = Sample.of([[1.0, 2.0]] * 3), Sample.of([[]] * 3, [2, 2, 2])
    assert cliffs_delta(Pair(late, completed)).point == 1
    assert cliffs_delta(Pair(late, late)).point == 0
    assert hodges_lehmann(Pair(late, completed)).point is None
    assert hodges_lehmann(Pair(late, late)).point == 0


def test_the_permutation_p_is_exact_for_few_trials() -> None:
    a, b = Sample.of([[1.0], [2.0], [3.0]]), Sample.of([[4.0], [5.0], [6.0]])
    assert permutation_p(Pair(a, b), np.random.default_rng(0)) == pytest.approx(2 / 20)


def test_the_permutation_test_permutes_whole_trials() -> None:
    rng = np.random.default_rng(0)
    a = Sample.of([rng.normal(0, 1, 500), rng.normal(1, 1, 500)])
    b = Sample.of([rng.normal(2, 1, 500), rng.normal(3, 1, 500)])
    assert permutation_p(Pair(a, b), rng) >= 2 / 6


def test_a_plain_difference_over_many_trials_has_a_small_p() -> None:
    rng = np.random.default_rng(0)
    a, b = Sample.of(rng.normal(0, 1, (20, 10))), Sample.of(rng.normal(1, 1, (20, 10)))
    assert permutation_p(Pair(a, b), rng) < 0.001
