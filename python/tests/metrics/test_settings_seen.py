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


def seen(value: int, *, connections: int = 1) -> dict[str, Any]:
    """Both ends announce the same window."""
    window = {"window": {"announced": [value, value], "effective": None, "used": 7}}
    return {"connections": connections, "sealed": 0, "unfinished": 0, "client": window, "server": window}


def table(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capture: dict[str, Any] | None, **own: dict[str, Any]
) -> list[dict[str, Any]]:
    """Of one trial: what its capture tells, if there is one, and what its ends tell by themselves."""
    records = Records(folder, {"s": {"capture": capture is not None}})
    trial = records.trial("s", [exchange()])
    for end, found in own.items():
        (folder / "trials" / trial / end).mkdir(exist_ok=True)
        (folder / "trials" / trial / end / "settings-seen.json").write_text(json.dumps(found))
    if capture is not None:
        records.ledgers[trial] = []
        records.settings_seen[trial] = capture
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    monkeypatch.setattr("wirelab.metrics.dataset.measure_ledger", lambda *_: None)
    measure(folder)
    path = folder / SETTINGS_SEEN
    return pl.read_parquet(path).to_dicts() if path.exists() else []


def test_each_end_tells_of_itself_where_nothing_was_captured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, server = table(tmp_path, monkeypatch, None, client=seen(1), server=seen(2))
    assert (client["end"], client["source"], client["announced_low"]) == ("client", "client", 1)
    assert (server["end"], server["source"], server["announced_high"]) == ("server", "server", 2)
    assert (client["setting"], client["used"], client["effective_low"]) == ("window", 7, None)


def test_an_end_of_ours_tells_of_one_that_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(tmp_path, monkeypatch, None, client=seen(1))
    assert [(row["end"], row["source"]) for row in rows] == [("client", "client"), ("server", "client")]


def test_a_capture_tells_of_both_unless_nothing_opened_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, capture, source in (("open", seen(9), "capture"), ("sealed", seen(9, connections=0), "client")):
        rows = table(tmp_path / name, monkeypatch, capture, client=seen(1))
        assert {row["source"] for row in rows} == {source}


def test_a_capture_in_which_no_handshake_ended_is_told_from_one_that_nothing_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing: dict[str, Any] = {"connections": 0, "sealed": 0, "unfinished": 3, "client": {}, "server": {}}
    [row] = table(tmp_path / "alone", monkeypatch, nothing)
    assert (row["source"], row["connections"], row["end"], row["setting"]) == ("capture", 0, None, None)
    assert table(tmp_path / "sealed", monkeypatch, {**nothing, "sealed": 1}) == []
    assert {row["source"] for row in table(tmp_path / "own", monkeypatch, nothing, client=seen(1))} == {"client"}


def test_what_nobody_told_makes_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert table(tmp_path, monkeypatch, None) == []
