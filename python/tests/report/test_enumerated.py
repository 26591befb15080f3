"""The section with exact probabilities next to the sample."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from tests.report import campaigns
from tests.report.campaigns import read, store
from wirelab.report.blocks import Grid, Section, Table
from wirelab.report.campaign import load
from wirelab.report.sections import enumerated

write = partial(campaigns.write, protocols=("https1", "h2"), links=("lossy",))
SAMPLED = {"point": 0.03, "low": 0.02, "high": 0.05, "level": 0.95, "n": 400, "method": "made up"}
RECORD: dict[str, Any] = {
    "shares": [{"delay_s": 0.2, "low": 0.0394, "high": 0.03941, "sampled": SAMPLED},
               {"delay_s": 1.0, "low": 0.01, "high": 0.02, "sampled": SAMPLED}],
    "delays_s": [0.01, 0.1, 1.0], "low": [1.0, 0.04, 0.01], "high": [1.0, 0.04, 0.02], "sampled": [1.0, 0.03, 0.0],
}  # fmt: skip


def section(folder: Path, **given: Any) -> Section | None:
    """Of a campaign in which one protocol's losses were enumerated."""
    write(folder)
    estimates = read(folder, "estimates.json")
    for scenario in estimates["scenarios"]:
        if scenario["key"].startswith("h2"):
            scenario["enumerated"] = RECORD | given
    store(folder, "estimates.json", estimates)
    return enumerated.section(load(folder, folder))


def test_each_delay_has_a_row_with_bounds_and_the_sample(tmp_path: Path) -> None:
    found = section(tmp_path)
    assert found is not None
    [grid] = [block for block in found.blocks if isinstance(block, Grid)]
    [figure] = grid.figures
    assert "<svg" in str(figure.svg)
    [table] = figure.tables
    assert [[cell.text for cell in row[2:5]] for row in table.rows] == [
        ["200 ms", "3.94%", "3.0 [2.0, 5.0]"], ["1 s", "1.00% to 2.00%", "3.0 [2.0, 5.0]"],
    ]  # fmt: skip


def test_without_a_sample_the_bounds_stand_alone(tmp_path: Path) -> None:
    found = section(tmp_path, sampled=[])
    assert found is not None
    assert [block for block in found.blocks if isinstance(block, Table)]


def test_a_campaign_that_was_not_enumerated_has_no_section(tmp_path: Path) -> None:
    write(tmp_path)
    assert enumerated.section(load(tmp_path, tmp_path)) is None
