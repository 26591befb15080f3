from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from wirelab.stats.family import benjamini_hochberg

P = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(P)
def test_benjamini_hochberg_is_that_of_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(list(false_discovery_control(p)))
