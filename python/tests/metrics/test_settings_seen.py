"""What connections were seen to say of their settings, as a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.metrics.records import Records, exchange
from wirelab.metrics.dataset import measure
from wirelab.metrics.settings_seen import SETTINGS_SEEN


def seen(value: int) -> dict[str, Any]:
    """Both ends announce the same window."""
    window = {"window": {"announced": [value, value], "effective": None, "used": 7}}
    return {"connections": 1, "client": window, "server": window}


def table(folder: Path, monkeypatch: pytest.MonkeyPatch, **own: dict[str, Any]) -> list[dict[str, Any]]:
    """Of one trial whose ends wrote this."""
    records = Records(folder, {"s": {}})
    trial = records.trial("s", [exchange()])
    for end, found in own.items():
        (folder / "trials" / trial / end).mkdir(exist_ok=True)
        (folder / "trials" / trial / end / "settings-seen.json").write_text(json.dumps(found))
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    measure(folder)
    path = folder / SETTINGS_SEEN
    return pl.read_parquet(path).to_dicts() if path.exists() else []


def test_each_builtin_end_reports_its_own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, server = table(tmp_path, monkeypatch, client=seen(1), server=seen(2))
    assert (client["end"], client["source"], client["announced_low"]) == ("client", "client", 1)
    assert (server["end"], server["source"], server["announced_high"]) == ("server", "server", 2)
    assert (client["setting"], client["used"], client["effective_low"]) == ("window", 7, None)


def test_a_builtin_end_reports_the_settings_of_a_third_party_peer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = table(tmp_path, monkeypatch, client=seen(1))
    assert [(row["end"], row["source"]) for row in rows] == [("client", "client"), ("server", "client")]


def test_a_trial_between_third_party_programs_has_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert table(tmp_path, monkeypatch) == []
