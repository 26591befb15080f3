"""Which command a campaign needs next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wirelab.metrics.steps import next_command

RUN = ["wirelab", "run", "mine.toml", "--out", "~/my lab/c", "--fresh"]


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    (tmp_path / "plan.json").write_text(json.dumps({"experiment": {"name": "mine", "file": "mine.toml"}}))
    return tmp_path


def ran(campaign: Path, *, ended: str | None, **more: Any) -> None:
    (campaign / "campaign.json").write_text(json.dumps({"command": RUN, "runs": [{"ended": ended}], **more}))


def test_a_stopped_campaign_continues_by_its_command_without_fresh(campaign: Path) -> None:
    ran(campaign, ended=None)
    (campaign / "estimates.json").touch()
    assert next_command(campaign) == "wirelab run mine.toml --out ~/'my lab/c'"


def test_a_campaign_with_only_a_plan_is_run(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert next_command(campaign) == f"wirelab run mine --out {campaign}"
    monkeypatch.chdir(campaign)
    (campaign / "mine.toml").touch()
    assert next_command(campaign) == f"wirelab run mine.toml --out {campaign}"


def test_a_finished_campaign_is_measured_then_analyzed_then_reported(campaign: Path) -> None:
    ran(campaign, ended="2026-11-21T12:00:00.000Z")
    assert next_command(campaign) == f"wirelab measure {campaign}"
    for name in ("exchanges.parquet", "trials.parquet"):
        (campaign / name).touch()
    assert next_command(campaign) == f"wirelab analyze {campaign}"
    (campaign / "estimates.json").touch()
    assert next_command(campaign) == f"wirelab report {campaign}"


def test_a_command_that_is_not_run_is_not_suggested(campaign: Path) -> None:
    ran(campaign, ended=None, command=["python", "-c", "…"])
    assert next_command(campaign) == f"wirelab run mine --out {campaign}"


def test_an_explanation_continues_by_its_command(campaign: Path) -> None:
    ran(campaign, ended=None, command=["wirelab", "explain", "h2", "h3", "--link", "20 ms"])
    assert next_command(campaign) == "wirelab explain h2 h3 --link '20 ms'"


def test_an_enumeration_is_continued_then_shown(campaign: Path) -> None:
    (campaign / "patterns.jsonl").touch()
    assert next_command(campaign) == f"wirelab exact mine --out {campaign}"
    (campaign / "exact.json").touch()
    assert next_command(campaign) == f"wirelab show {campaign} --cost"
