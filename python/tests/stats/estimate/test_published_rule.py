from __future__ import annotations

import numpy as np
import pytest

from wirelab.stats.estimate import published_rule
from wirelab.stats.estimate.sample import Sample


def _with_loss(base: float, hit_share: float, rng: np.random.Generator) -> tuple[Sample, tuple[np.ndarray, ...]]:
    hit = rng.random((30, 100)) < hit_share
    values = base + np.where(hit, 0.22, 0) + np.abs(rng.normal(0, 0.0005, hit.shape))
    return Sample.of(values), tuple(hit)


def test_the_rule_removes_the_effect_of_loss_if_few_exchanges_are_hit_and_keeps_it_if_most_are() -> None:
    rng = np.random.default_rng(0)
    few, hit = _with_loss(0.04, 0.3, rng)
    rule = published_rule.apply(few, hit, rng)
    assert rule.removed_retransmission_hit == rule.retransmission_hit
    assert rule.mean.point == pytest.approx(0.0404, abs=2e-4)
    most, hit = _with_loss(0.08, 0.8, rng)
    rule = published_rule.apply(most, hit, rng)
    assert rule.removed_retransmission_hit is not None and rule.retransmission_hit is not None
    assert rule.removed_retransmission_hit < rule.retransmission_hit / 2


def test_a_deviation_of_zero_is_reported_with_what_it_removed() -> None:
    values = [0.04] * 8 + [0.041, 0.3]
    rule = published_rule.apply(Sample.of([values, values]), None, np.random.default_rng(0))
    assert rule.removed == 4
    assert rule.note is not None
    assert "4" in rule.note
    assert rule.removed_retransmission_hit is None


def test_the_rules_limit_is_three_scaled_deviations() -> None:
    values = np.concatenate([np.linspace(-1, 1, 101), [2.22, 2.23]])
    # The median deviation is 0.51 here, scaled 0.756, times three 2.268 about a median of 0.01.
    assert published_rule.keep(values)[0].all()
    assert not published_rule.keep(np.append(values, 2.5))[0][-1]


def test_constant_values_lose_none() -> None:
    rule = published_rule.apply(Sample.of([[1.0] * 5]), None, np.random.default_rng(0))
    assert rule.removed == 0
    assert rule.note is None
