"""Which exchange stands for many."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.one_exchange import late_exchange, one_exchange

METRIC = "end-to-end-delay"


def _rows(*delays_ms: int | None) -> pl.DataFrame:
    ends = [9_000 if delay is None else delay for delay in delays_ms]
    return pl.DataFrame({
        "index": [*range(len(ends))],
        "outcome": ["timed-out" if delay is None else "completed" for delay in delays_ms],
        "intended_start_ns": [0] * len(ends), "start_ns": [0] * len(ends), "end_ns": ends,
        "end_to_end_delay_ns": pl.Series(delays_ms, dtype=pl.Int64),
    })  # fmt: skip


def test_a_typical_one_is_nearest_to_the_median_of_those_that_completed() -> None:
    assert one_exchange(_rows(10, 30, 20, None), METRIC, slowest=False)["index"].to_list() == [2]


def test_the_slowest_is_one_that_timed_out_if_there_is_one() -> None:
    assert one_exchange(_rows(10, 30, 20, None), METRIC, slowest=True)["index"].to_list() == [3]
    assert one_exchange(_rows(10, 30, 20), METRIC, slowest=True)["index"].to_list() == [1]


def test_a_late_one_took_more_than_twice_the_median() -> None:
    rows = _rows(100, 100, 100, 232, 300, None).with_columns(trial=pl.lit("t"))
    assert late_exchange(rows)["index"].to_list() == [3]
    assert late_exchange(_rows(None).with_columns(trial=pl.lit("t"))).is_empty()


def test_without_any_that_completed_there_is_no_typical_one() -> None:
    assert one_exchange(_rows(None, None), METRIC, slowest=False).is_empty()
