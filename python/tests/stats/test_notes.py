"""The limits of estimates, in sentences."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.metrics.tables import write_table
from wirelab.stats.analyze import analyze


@pytest.mark.parametrize(("clock", "said"), [("live", True), ("virtual", False)])
def test_trials_that_repeat_exactly_are_not_too_few(clock: str, said: bool, tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, protocols=("http1",), uploads=("30 B",), trials=4, exchanges=10)
    plan = json.loads((folder / "plan.json").read_text())
    for scenario in plan["scenarios"]:
        scenario["clock"] = clock
    (folder / "plan.json").write_text(json.dumps(plan))
    rows = pl.read_parquet(folder / "exchanges.parquet")
    same = pl.lit(40_000_000, rows["end_to_end_delay_ns"].dtype).alias("end_to_end_delay_ns")
    completed = pl.lit("completed", rows["outcome"].dtype).alias("outcome")
    write_table(rows.with_columns(same, completed), folder / "exchanges.parquet")
    few = "A scenario has only 4 trials: intervals over trials are wide, and p values cannot be small."
    assert (few in analyze(folder)["notes"]) is said
