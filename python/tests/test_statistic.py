"""The names of the statistics that rank."""

from __future__ import annotations

import pytest

from wirelab.statistic import key_of, least_values, quantile_of, read_statistic, words_of
from wirelab.units import UnitError


@pytest.mark.parametrize(
    ("written", "name", "quantile", "key", "words"),
    [
        ("median", "median", 0.5, "median", "median"),
        ("p50", "median", 0.5, "median", "median"),
        ("mean", "mean", None, "mean", "mean"),
        ("p95", "p95", 0.95, "0.95", "95th percentile"),
        ("p1", "p1", 0.01, "0.01", "1st percentile"),
        ("p11", "p11", 0.11, "0.11", "11th percentile"),
        ("p92", "p92", 0.92, "0.92", "92nd percentile"),
    ],
)
def test_a_statistic_has_a_quantile_a_key_and_words(
    written: str, name: str, quantile: float | None, key: str, words: str
) -> None:
    read = read_statistic(written)
    assert (read, quantile_of(read), key_of(read), words_of(read)) == (name, quantile, key, words)


@pytest.mark.parametrize("written", ["sd", "p0", "p100", "p9.5", "95", "P95", "", 95, None, ["p95"]])
def test_anything_else_does_not_rank(written: object) -> None:
    with pytest.raises(UnitError, match="not a statistic to rank by"):
        read_statistic(written)


@pytest.mark.parametrize(
    ("q", "values"), [(None, 1), (0.5, 1), (0.25, 1), (0.9, 100), (0.05, 100), (0.95, 100), (0.99, 1000)]
)
def test_an_outer_quantile_needs_more_values(q: float | None, values: int) -> None:
    assert least_values(q) == values
