"""What makes bounds too wide, or outside."""

from __future__ import annotations

import polars as pl
from tests.sampling.compared import Compared, compared, faults

from wirelab.schema.exact import Exact

RECORD: Exact = {  # type: ignore[typeddict-item]
    "scenarios": [
        {
            "protocol": "coap",
            "beyond": [
                {"loss": "1 %", "delay_s": 1.0, "bounds": {"low": 0.0199, "high": 0.0201}, "sampled": None},
                {"loss": "2 %", "delay_s": 1.0, "bounds": {"low": 0.03, "high": 0.04}, "sampled": None},
            ],
        }
    ]
}


def _exchanges(long: int, count: int) -> pl.DataFrame:
    delays = [2e9 if at < long else 1e7 for at in range(count)]
    return pl.DataFrame({"outcome": ["completed"] * count, "end_to_end_delay_ns": delays})


def test_bounds_are_compared_with_the_sample_of_their_loss() -> None:
    [found] = compared(RECORD, "1 %", "coap", _exchanges(400, 20_000))
    assert found.inside
    assert found.width < 0.1
    assert not faults([found])


def test_what_did_not_complete_is_long() -> None:
    lost = _exchanges(0, 20_000).with_columns(pl.lit("timed-out").alias("outcome"))
    [found] = compared(RECORD, "1 %", "coap", lost)
    assert found.interval[1] == 1.0
    assert not found.inside


def test_wide_bounds_and_bounds_that_are_often_outside_are_faults() -> None:
    wide = Compared("a", (0.02, 0.03), (0.015, 0.035), 100)
    outside = Compared("b", (0.04, 0.041), (0.015, 0.035), 100)
    assert faults([wide]) == ["a: bounds are 0.50 of the interval"]
    assert "bounds are inside 0.0% of 20 intervals" in faults([outside] * 20)[0]
