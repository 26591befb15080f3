"""Means for one exchange of what captures count."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.metrics.ledger import COLUMNS, LEDGER, PARTS
from wirelab.stats.dataset import Dataset
from wirelab.stats.ledger import ledgers


def row(trial: str, scenario: str, exchanges: int, payload: int | None, **parts: int) -> dict[str, object]:
    spent = dict.fromkeys(PARTS, 0) | parts
    head = {"trial": trial, "scenario": scenario, "direction": "up", "exchanges": exchanges, "packets": 4}
    return {**head, "total": sum(spent.values()), **spent, "payload": payload}


def test_bytes_are_shared_by_all_exchanges_of_a_scenario(tmp_path: Path) -> None:
    write_campaign(tmp_path, stacks=("raw-tcp",), links=("lossless",), uploads=("30 B",), trials=2, exchanges=10)
    dataset = Dataset.read(tmp_path)
    assert ledgers(dataset) == {}
    rows = [row("a", "s", 10, 300, ip=400, application=500), row("b", "s", 30, 900, ip=800, application=1500)]
    rows += [row("c", "t", 5, None, sealed=50), row("d", "t", 5, 60, application=60), row("e", "u", 0, 0)]
    pl.DataFrame(rows, schema=COLUMNS).write_parquet(tmp_path / LEDGER)
    found = ledgers(dataset)
    assert found.keys() == {"s", "t"}
    assert (found["s"]["exchanges"], found["s"]["trials"]) == (40, 2)
    assert found["s"]["total"]["point"] == pytest.approx(80)
    assert found["s"]["total"]["low"] < 77
    assert found["s"]["total"]["high"] > 90
    expected = {"total": 80.0, "ip": 30.0, "application": 50.0, "payload": 30.0, "headers": 20.0, "packets": 0.2}
    assert expected.items() <= found["s"]["up"].items()
    one = [row("c", "t", 5, None, sealed=50)]
    pl.DataFrame(one, schema=COLUMNS).write_parquet(tmp_path / LEDGER)
    alone = ledgers(dataset)["t"]
    assert (alone["trials"], alone["total"]["point"], alone["total"]["low"]) == (1, 10.0, None)
    assert (found["t"]["up"]["payload"], found["t"]["up"]["headers"], found["t"]["up"]["sealed"]) == (None, None, 5.0)
