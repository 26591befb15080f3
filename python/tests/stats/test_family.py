from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from wirelab.stats.family import benjamini_hochberg, holm

P = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(P)
def test_benjamini_hochberg_is_that_of_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(list(false_discovery_control(p)))


def test_holm_on_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(P)
def test_holm_lies_between_the_p_and_bonferroni(p: list[float]) -> None:
    for raw, adjusted in zip(p, holm(p), strict=True):
        assert raw <= adjusted
        assert adjusted <= 1
    smallest = min(p)
    assert holm(p)[p.index(smallest)] == pytest.approx(min(1.0, len(p) * smallest))


def test_holm_keeps_the_order_of_the_p_values() -> None:
    p = list(np.random.default_rng(0).random(30))
    assert np.argsort(holm(p), kind="stable")[0] == int(np.argmin(p))
