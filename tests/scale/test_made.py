"""The rows of made campaigns, and lines of the table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.scale.__main__ import Line, shown
from tests.scale.made import MOMENTS, multiplied


def _rows() -> pl.DataFrame:
    first = {name: [100_000, 300_000] for name in MOMENTS}
    return pl.DataFrame(
        {"index": [0, 1], **first, "end_ns": [150_000, 420_000], "outcome": ["completed", "failed"]},
        schema_overrides={"index": pl.UInt32, **dict.fromkeys(MOMENTS, pl.UInt64)},
    )


def test_rows_follow_each_other_and_keep_what_they_are() -> None:
    found = multiplied(_rows(), 5, np.random.default_rng(1))
    assert found["index"].to_list() == [0, 1, 2, 3, 4]
    assert found["outcome"].to_list() == ["completed", "failed"] * 2 + ["completed"]
    starts, ends = found["start_ns"].to_list(), found["end_ns"].to_list()
    assert starts[0] == 100_000
    # Each begins where the one before it ended, but for the rounding of both.
    assert all(abs(later - end) <= 1 for later, end in zip(starts[1:], ends, strict=False))
    assert len({end - start for start, end in zip(starts, ends, strict=True)}) == 5
    assert found.schema == _rows().schema


@pytest.mark.parametrize(("reached", "words"), [(True, ""), (False, ", missed")])
def test_a_line_says_what_was_found_and_what_may_be(reached: bool, words: str) -> None:
    assert shown(Line("planning", "3 s", "10 s", reached)) == f"planning: 3 s (at most 10 s){words}"


def test_an_instant_without_a_value_stays_so() -> None:
    rows = _rows().with_columns(tcp_connect_ns=pl.lit(None, pl.UInt64))
    found = multiplied(rows, 3, np.random.default_rng(1))
    assert found["tcp_connect_ns"].to_list() == [None] * 3
