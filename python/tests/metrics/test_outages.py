"""Outages of links and of the server in a campaign's records, as a table and as columns of trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.metrics.records import MS, START, Records, exchange
from wirelab.metrics.dataset import measure
from wirelab.metrics.outages import OUTAGES, by_trial
from wirelab.metrics.packets import MAGIC

OUTAGE = {"kind": "outage", "start_ns": 150 * MS, "duration_ns": 100 * MS}
LINK = {"uplink": [OUTAGE], "downlink": [OUTAGE]}
RESTART = {"after_ns": 1, "down_ns": 1}
RECORD = bytes(32)
"""What follows the arrival in a record of a packet log, without the packet's bytes."""


def at(milliseconds: int) -> int:
    return START + milliseconds * MS


def log(folder: Path, first_ms: int) -> None:
    """A log of two packets, the earlier one second."""
    records = b"".join(at(each).to_bytes(8, "little") + RECORD for each in (first_ms + 5, first_ms))
    (folder / "packets.wlpl").write_bytes(MAGIC + (2).to_bytes(4, "little") + b"{}" + records)


def failed(index: int) -> dict[str, Any]:
    return exchange(index, outcome="failed", error="no route")


def measured(records: Records, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The rows of the table."""
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    measure(records.folder)
    path = records.folder / OUTAGES
    return pl.read_parquet(path).to_dicts() if path.exists() else []


def test_an_outage_of_the_link_counts_from_its_first_packet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Records(tmp_path, {"s": {"link": LINK}})
    trial = records.trial("s", [exchange(0), exchange(1), failed(2), exchange(3), exchange(4)])
    log(tmp_path / "trials" / trial, 10)
    [row] = measured(records, monkeypatch)
    assert (row["what"], row["outage_start_ns"], row["outage_end_ns"]) == ("link", at(160), at(260))
    # The message under way at its beginning took until 163 ms, the next to complete until 363 ms.
    assert (row["recovery_ns"], row["affected"], row["lost"], row["late"]) == (103 * MS, 3, 1, 0)
    [whole] = pl.read_parquet(tmp_path / "trials.parquet").to_dicts()
    assert (whole["recovery_time_ns"], whole["messages_lost_in_outages"]) == (103 * MS, 1)


def test_a_restart_is_read_from_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Records(tmp_path, {"s": {"restart": RESTART}})
    trial = records.trial("s", [exchange(0), failed(1), exchange(2)])
    records.restarted(trial, (90, 150))
    [row] = measured(records, monkeypatch)
    assert (row["what"], row["recovery_ns"], row["lost"]) == ("server", 113 * MS, 1)
    assert (row["attempts"], row["part_energy_typical"]) == (None, None)


def test_a_campaign_without_an_outage_has_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Records(tmp_path, {"s": {}})
    records.trial("s", [exchange(0)])
    assert measured(records, monkeypatch) == []
    [whole] = pl.read_parquet(tmp_path / "trials.parquet").to_dicts()
    assert whole["recovery_time_ns"] is None
    assert whole["messages_lost_in_outages"] is None


def test_an_outage_between_two_messages_is_not_met(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Records(tmp_path, {"s": {"restart": RESTART}})
    trial = records.trial("s", [exchange(0), exchange(1), exchange(2)])
    records.restarted(trial, (70, 90))
    [row] = measured(records, monkeypatch)
    assert (row["met"], row["recovery_ns"], row["affected"]) == (False, None, 0)
    [whole] = pl.read_parquet(tmp_path / "trials.parquet").to_dicts()
    assert (whole["recovery_time_ns"], whole["messages_lost_in_outages"]) == (None, 0)


def test_a_trial_has_a_recovery_time_only_if_it_recovered_from_each_outage() -> None:
    rows = [
        ("a", True, 10), ("a", True, 20), ("a", False, None),
        ("b", True, 10), ("b", True, None),
        ("c", False, None),
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=["trial", "met", "recovery_ns"], orient="row")
    found = by_trial(table.with_columns(lost=1, late=0)).sort("trial")
    assert found["recovery_time_ns"].to_list() == [15, None, None]
    assert found["messages_lost_in_outages"].to_list() == [3, 2, 1]
