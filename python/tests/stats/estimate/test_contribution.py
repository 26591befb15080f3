"""Contributions of the parts of an exchange to the mean of all."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from wirelab.schema.estimates import MetricRecord
from wirelab.stats.estimate.contribution import always, contribution


def part(values: list[float]) -> MetricRecord:
    mean = {"point": float(np.mean(values)) if values else None}
    return cast("MetricRecord", {"n": len(values), "mean": mean})


def test_contributions_add_up_to_the_mean_of_the_whole_whether_a_part_happened_or_not() -> None:
    exchanges = [{"handshake": 0.06, "wait": 0.02}, {"wait": 0.03}, {"wait": 0.1}, {"wait": 0.02}]
    whole = np.mean([sum(each.values()) for each in exchanges])
    parts = [part([each[name] for each in exchanges if name in each]) for name in ("handshake", "wait")]
    found = [contribution(each, len(exchanges)) for each in parts]
    assert found == pytest.approx([0.015, 0.0425])
    assert sum(each or 0.0 for each in found) == pytest.approx(whole)
    assert [always(each, len(exchanges)) for each in parts] == [False, True]


def test_without_a_value_or_a_completed_exchange_there_is_no_contribution() -> None:
    assert contribution(part([]), 4) is None
    assert contribution(part([0.1]), 0) is None
