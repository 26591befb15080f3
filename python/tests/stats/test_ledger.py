"""Means for one exchange of what captures count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.metrics.ledger import COLUMNS, LEDGER, PARTS
from wirelab.metrics.tables import write_table
from wirelab.stats.dataset import Dataset
from wirelab.stats.ledger import ledgers


def row(trial: str, scenario: str, exchanges: int, payload: int | None, **parts: int) -> dict[str, object]:
    spent = dict.fromkeys(PARTS, 0) | parts
    head = {"trial": trial, "scenario": scenario, "direction": "up", "exchanges": exchanges, "packets": 4}
    beside = {"payload": payload, "link_layer": None, "connections": exchanges}
    return {**head, "total": sum(spent.values()), **spent, **beside}


def test_bytes_are_shared_by_all_exchanges_of_a_scenario(tmp_path: Path) -> None:
    write_campaign(tmp_path, protocols=("raw-tcp",), links=("lossless",), uploads=("30 B",), trials=2, exchanges=10)
    dataset = Dataset.read(tmp_path)
    assert ledgers(dataset) == {}
    rows = [row("a", "s", 10, 300, ip=400, application=500), row("b", "s", 30, 900, ip=800, application=1500)]
    rows += [row("c", "t", 5, None, sealed=50), row("d", "t", 5, 60, application=60), row("e", "u", 0, 0)]
    pl.DataFrame(rows, schema=COLUMNS).pipe(write_table, tmp_path / LEDGER)
    found = ledgers(dataset)
    assert found.keys() == {"s", "t"}
    assert (found["s"]["exchanges"], found["s"]["trials"]) == (40, 2)
    assert found["s"]["total"]["point"] == pytest.approx(80)
    assert found["s"]["total"]["low"] < 77
    assert found["s"]["total"]["high"] > 90
    expected = {"total": 80.0, "ip": 30.0, "application": 50.0, "payload": 30.0, "headers": 20.0, "packets": 0.2}
    assert expected.items() <= found["s"]["up"].items()
    one = [row("c", "t", 5, None, sealed=50)]
    pl.DataFrame(one, schema=COLUMNS).pipe(write_table, tmp_path / LEDGER)
    alone = ledgers(dataset)["t"]
    assert (alone["trials"], alone["total"]["point"], alone["total"]["low"]) == (1, 10.0, None)
    assert (found["t"]["up"]["payload"], found["t"]["up"]["headers"], found["t"]["up"]["sealed"]) == (None, None, 5.0)


def day(folder: Path, arrival: dict[str, object], **more: object) -> dict[str, Any]:
    """Of a scenario with ten exchanges in one trial."""
    write_campaign(folder, protocols=("raw-tcp",), links=("lossless",), uploads=("30 B",), trials=2, exchanges=10)
    plan = json.loads((folder / "plan.json").read_text())
    plan["scenarios"][0]["workload"]["arrival"] = arrival
    (folder / "plan.json").write_text(json.dumps(plan))
    dataset = Dataset.read(folder)
    counted = row("a", dataset.scenarios[0].key, 10, 300, handshake=1000, connection=500, ip=400, application=600)
    pl.DataFrame([counted | more], schema=COLUMNS).pipe(write_table, folder / LEDGER)
    [found] = ledgers(dataset).values()
    return dict(found["day"])


def test_a_day_has_as_many_messages_as_the_arrival_process_makes(tmp_path: Path) -> None:
    closed = day(tmp_path / "closed", {"process": "closed"})
    assert (closed["messages"], closed["assumed"], closed["one_connection"]) == (96, True, False)
    # 250 bytes for each exchange, each with a connection of its own.
    assert (closed["parts"]["total"], closed["parts"]["handshake"], closed["parts"]["payload"]) == (
        96 * 250, 96 * 100, 96 * 30,
    )  # fmt: skip
    fixed = day(tmp_path / "fixed", {"process": "fixed", "rate_hz": 0.01})
    assert (fixed["messages"], fixed["assumed"], fixed["interval_s"]) == (864, False, 100)
    hourly = day(tmp_path / "hourly", {"process": "periodic", "interval_ns": 3600 * 10**9})
    assert (hourly["messages"], hourly["assumed"]) == (24, False)


def test_a_persistent_connection_is_set_up_once_a_day(tmp_path: Path) -> None:
    kept = day(tmp_path, {"process": "closed"}, connections=1)
    assert kept["one_connection"]
    assert (kept["parts"]["handshake"], kept["parts"]["connection"]) == (1000, 500)
    assert kept["parts"]["total"] == 1500 + 96 * 100


def test_the_day_counts_link_layer_bytes_if_the_link_has_frames(tmp_path: Path) -> None:
    assert day(tmp_path / "none", {"process": "closed"})["parts"]["link_layer"] is None
    assert day(tmp_path / "some", {"process": "closed"}, link_layer=380)["parts"]["link_layer"] == 96 * 38
