from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from wirelab.stats.estimate.modes import modes
from wirelab.stats.estimate.sample import Sample


def _sample(parts: list[tuple[float, int]], spread: float, rng: np.random.Generator, trials: int = 10) -> Sample:
    """`count` values around each centre in every trial."""
    return Sample.of(
        np.concatenate([centre * np.exp(rng.normal(0, spread, count)) for centre, count in parts])
        for _ in range(trials)
    )


def test_retransmission_timeouts_give_modes_with_their_shares() -> None:
    rng = np.random.default_rng(0)
    found = modes(_sample([(0.041, 70), (0.25, 20), (1.05, 10)], 0.02, rng))
    assert [mode.share.point for mode in found] == pytest.approx([0.7, 0.2, 0.1])
    assert all(mode.share.low is not None and mode.share.low < (mode.share.point or 0) for mode in found)
    assert [mode.low < centre < mode.high for mode, centre in zip(found, (0.041, 0.25, 1.05), strict=True)] == [
        True
    ] * 3


def test_one_wide_cluster_has_no_modes() -> None:
    rng = np.random.default_rng(1)
    assert modes(_sample([(0.04, 100)], 0.001, rng)) == []
    assert modes(_sample([(0.04, 300)], 0.5, rng)) == []


def test_a_few_outliers_are_not_a_mode() -> None:
    values = np.full(1000, 0.04)
    values[:5] = 3.0
    assert modes(Sample.of([values])) == []


def test_every_value_is_in_exactly_one_mode() -> None:
    rng = np.random.default_rng(2)
    found = modes(_sample([(0.04, 30), (0.06, 30), (0.3, 40)], 0.03, rng))
    assert sum(mode.share.point or 0 for mode in found) == pytest.approx(1)
    assert all(first.high < second.low for first, second in pairwise(found))


def test_values_that_are_not_positive_have_no_modes() -> None:
    assert modes(Sample.of([[0.0, 1.0, 1.0, 100.0]])) == []
