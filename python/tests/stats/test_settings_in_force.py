"""Settings that an experiment gives, against what connections were seen to say and do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.metrics.settings_seen import COLUMNS, SETTINGS_SEEN
from wirelab.metrics.tables import write_table
from wirelab.stats.dataset import Dataset
from wirelab.stats.settings_in_force import NOT_KNOWN, NOT_SAID, settings_in_force

WINDOW = "initial-window-size"


def row(end: str, setting: str, announced: int | None, used: int | None = None, held: int | None = None) -> Any:
    bounds = {"announced_low": announced, "announced_high": announced, "effective_low": held, "effective_high": held}
    head = {"trial": "a", "scenario": "", "end": end, "setting": setting, "source": end, "connections": 5}
    return {**head, **bounds, "used": used}


def in_force(folder: Path, settings: dict[str, Any], *seen: dict[str, Any]) -> list[dict[str, Any]]:
    """Of one scenario of h2 with these settings."""
    write_campaign(folder, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=1, exchanges=1)
    plan = json.loads((folder / "plan.json").read_text())
    [scenario] = plan["scenarios"]
    scenario["settings"] = settings
    (folder / "plan.json").write_text(json.dumps(plan))
    rows = [{**each, "scenario": scenario["key"]} for each in seen]
    if rows:
        pl.DataFrame(rows, schema=COLUMNS).pipe(write_table, folder / SETTINGS_SEEN)
    return settings_in_force(Dataset.read(folder)).get(scenario["key"], [])


def test_an_announced_value_that_was_never_exceeded_is_in_force(tmp_path: Path) -> None:
    configured = {WINDOW: 4095, "max-concurrent-streams": "default"}
    rows = in_force(tmp_path, configured, row("client", WINDOW, 4095, used=4095), row("server", WINDOW, 4095))
    assert [(each["end"], each["configured"], each["in_force"], each["why"]) for each in rows] == [
        ("client", 4095, True, None),
        ("server", 4095, True, None),
    ]
    assert (rows[0]["used"], rows[0]["trials"], rows[0]["connections"], rows[0]["unit"]) == (4095, 1, 5, "bytes")


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (row("client", WINDOW, None), "it was not announced"),
        (row("client", WINDOW, 65_535), "65535 was announced"),
        (row("client", WINDOW, 4095, held=1000), "1000 held in its place"),
        (row("client", WINDOW, 4095, used=4096), "the other end used 4096"),
    ],
)
def test_a_clamped_or_ignored_or_exceeded_value_is_not_in_force(tmp_path: Path, seen: Any, why: str) -> None:
    [found] = in_force(tmp_path, {WINDOW: 4095}, seen)
    assert (found["in_force"], found["why"]) == (False, why)


def test_a_setting_without_evidence_is_unknown(tmp_path: Path) -> None:
    [found] = in_force(tmp_path, {WINDOW: 4095})
    assert (found["end"], found["in_force"], found["why"]) == (None, None, NOT_KNOWN)
    [other] = in_force(tmp_path / "said", {WINDOW: 4095}, row("client", "another", 1))
    assert (other["end"], other["in_force"], other["why"]) == (None, None, NOT_SAID)


def test_a_setting_left_to_the_library_is_not_judged(tmp_path: Path) -> None:
    assert in_force(tmp_path, {WINDOW: "default"}, row("client", WINDOW, 1)) == []
