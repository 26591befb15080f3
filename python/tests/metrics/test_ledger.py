"""What captures tell of each byte, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.metrics.records import Records, exchange
from wirelab.metrics.dataset import measure
from wirelab.metrics.ledger import LEDGER, PARTS

DELIVER = {"kind": "telemetry", "message_bytes": 612}


def spent(**given: int) -> dict[str, int]:
    parts = dict.fromkeys(PARTS, 0) | given
    return {"packets": 3, "total": sum(parts.values()), **parts}


def ledger(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *outcomes: str, sealed: int = 0, **scenario: Any
) -> list[dict[str, Any]]:
    """Of one trial with these exchanges."""
    records = Records(folder, {"s": {"capture": True, "workload": DELIVER} | scenario})
    trial = records.trial("s", [exchange(index, outcome=outcome) for index, outcome in enumerate(outcomes)])
    records.ledgers[trial] = [spent(ip=20, application=1300), spent(ip=20, sealed=sealed)]
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    measure(records.folder)
    path = folder / LEDGER
    return pl.read_parquet(path).to_dicts() if path.exists() else []


def test_each_direction_of_a_captured_trial_has_its_parts_and_its_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    up, down = ledger(tmp_path, monkeypatch, "completed", "completed")
    assert (up["direction"], up["total"], up["application"], up["payload"]) == ("up", 1320, 1300, 1224)
    assert (down["direction"], down["total"], down["payload"], down["exchanges"]) == ("down", 20, 0, 2)


def test_the_message_bytes_are_unknown_if_the_exchange_failed_or_nothing_decrypted_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    up, down = ledger(tmp_path / "failed", monkeypatch, "completed", "timed-out")
    assert (up["payload"], down["payload"]) == (None, None)
    up, down = ledger(tmp_path / "sealed", monkeypatch, "completed", sealed=9)
    assert (up["payload"], down["payload"]) == (612, None)


@pytest.mark.parametrize(
    ("protocol", "workload", "payload"),
    [
        ("h2", {"kind": "request-response", "upload_bytes": 30, "download_bytes": 500}, (30, 500)),
        ("raw-udp", {"kind": "request-response", "upload_bytes": 30, "download_bytes": 0}, (30, 30)),
        ("coap", {"kind": "pubsub", "message_bytes": 12}, (0, 12)),
    ],
)
def test_the_direction_of_a_message_follows_from_its_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str, workload: dict[str, Any], payload: tuple[int, int]
) -> None:
    rows = ledger(tmp_path, monkeypatch, "completed", protocol=protocol, workload=workload)
    assert tuple(row["payload"] for row in rows) == payload


def test_downloads_of_several_sizes_are_taken_in_turn_by_each_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = {"kind": "request-response", "upload_bytes": 0, "download_bytes": [11_000, 612]}
    up, down = ledger(tmp_path, monkeypatch, "completed", "completed", "completed", workload=workload)
    assert (up["payload"], down["payload"]) == (0, 11_000 + 612 + 11_000)


def test_opened_connections_and_link_layer_overhead_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = Records(tmp_path, {"s": {"capture": True, "workload": DELIVER}})
    kept = [exchange(index, connection_reused=index > 0) for index in range(3)]
    trial = records.trial("s", kept)
    records.ledgers[trial] = [spent(ip=20) | {"link_layer": 38}, spent(ip=20)]
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    measure(tmp_path)
    up, down = pl.read_parquet(tmp_path / LEDGER).to_dicts()
    assert (up["connections"], up["link_layer"], down["link_layer"]) == (1, 38, None)


def test_without_captures_there_is_no_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ledger(tmp_path, monkeypatch, "completed", capture=False) == []
