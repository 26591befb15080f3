"""Printed numbers and ours."""

from __future__ import annotations

from pathlib import Path

from tests.report.replication.records import record


def test_each_printed_number_has_ours_where_it_was_run(tmp_path: Path) -> None:
    """The campaign was run at 2 ms alone; the fitted interpretation of 4 ms and the first levels were not run."""
    found = record(tmp_path)
    numbers = [
        (each["interpretation"], each["paper"], each["ours"]["point"], each["fitted"]) for each in found["numbers"]
    ]
    assert numbers == [("lan", 0.04, 0.048, False), ("lan", 0.03, 0.031, False)]
    assert found["units"] == {"end-to-end-delay": "s"}
    assert found["printed"] == 2
