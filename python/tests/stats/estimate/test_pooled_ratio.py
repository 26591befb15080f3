"""A ratio of sums."""

from __future__ import annotations

import numpy as np
import pytest

from wirelab.stats.estimate.pooled_ratio import pooled_ratio


def test_the_ratio_is_that_of_the_sums_and_few_trials_have_no_interval() -> None:
    few = pooled_ratio([(1.0, 2.0), (3.0, 2.0)], seed=1)
    assert (few.point, few.low, few.high, few.n) == (1.0, None, None, 2)
    assert few.method == "no interval: fewer than 5 trials"


def test_the_interval_keeps_its_coverage() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for seed in range(200):
        below = rng.uniform(1, 2, 30)
        above = below * 1.3 * rng.lognormal(0, 0.1, 30) / np.exp(0.1**2 / 2)
        estimate = pooled_ratio(list(zip(above.tolist(), below.tolist(), strict=True)), seed)
        assert estimate.low is not None
        assert estimate.high is not None
        held += estimate.low <= 1.3 <= estimate.high
    assert held / 200 == pytest.approx(0.95, abs=0.05)
