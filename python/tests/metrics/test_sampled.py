"""Which exchanges count in a metric."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.registry import EXCHANGE_METRICS, Metric
from wirelab.metrics.sampled import sampled

ROWS = pl.DataFrame(
    {
        "outcome": ["completed", "failed", "timed-out", "completed"],
        "interval_energy_j": [1.0, 2.0, 3.0, None],
        "radio_energy_j": [1.0, None, None, None],
    }
)


def metric(name: str) -> Metric:
    return next(each for each in EXCHANGE_METRICS if each.name == name)


def test_a_message_that_failed_is_paid_for() -> None:
    found = sampled(ROWS, metric("interval-energy"), "request-response")
    assert found is not None
    assert found.values[found.use].tolist() == [1.0, 2.0, 3.0]
    assert not found.late.any()
    alone = sampled(ROWS, metric("radio-energy"), "request-response")
    assert alone is not None
    assert alone.values[alone.use].tolist() == [1.0]


def test_a_metric_without_values_has_no_sample() -> None:
    assert sampled(ROWS.with_columns(interval_energy_j=pl.lit(None)), metric("interval-energy"), "telemetry") is None
    assert sampled(ROWS, metric("setup-energy"), "telemetry") is None
