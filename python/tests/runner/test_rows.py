"""Rows of a client that is not ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.runner.fakes import make_plan
from wirelab.runner.rows import WrongRowError, read_rows, wrong_rows
from wirelab.schema import EXTENDED, RequestResponse, workloads_with

[SCENARIO] = make_plan(1, 1).scenarios
FLAGS = {"connection_reused", "resumed", "early_data"}
ROW = {"index": 0, "start_ns": 110, "end_ns": 190, "outcome": "completed"}


def reported(folder: Path, *rows: Any, exchanges: int | None = None, unanswered: str | None = None) -> str | None:
    output = folder / "client"
    output.mkdir(exist_ok=True)
    (output / "exchanges.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert isinstance(SCENARIO.workload, RequestResponse)
    many = len(rows) if exchanges is None else exchanges
    return wrong_rows(output, SCENARIO.workload.model_copy(update={"exchanges": many}), 100, 200, unanswered)


def test_rows_that_follow_the_contract_are_accepted(tmp_path: Path) -> None:
    failed = {"index": 1, "outcome": "failed", "error": "no", "start_ns": None}
    early = {**ROW, "index": 3, "intended_start_ns": 111, "place_ns": 105}
    assert reported(tmp_path, ROW, failed, {**ROW, "index": 2, "own_column": "is left alone"}, early) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"end_ns": 105}, "client/exchanges.jsonl:2: end_ns is 5 ns before start_ns"),
        ({"outcome": "fine"}, "client/exchanges.jsonl:2: outcome: Input should be 'completed', 'sent', 'failed', "),
        ({"outcome": None}, "client/exchanges.jsonl:2: no outcome"),
        ({"end_ns": None}, "client/exchanges.jsonl:2: no end_ns"),
        ({"start_ns": 10}, "not within the trial; instants are of CLOCK_MONOTONIC"),
        ({"end_ns": 1_700_000_000 * 10**9}, "not within the trial; instants are of CLOCK_MONOTONIC"),
        ({"intended_start_ns": 0}, "2: intended_start_ns is before the trial; instants are of CLOCK_MONOTONIC"),
        ({"tcp_connect_ns": -1}, "client/exchanges.jsonl:2: tcp_connect_ns: "),
        ({"index": 0}, "client/exchanges.jsonl:2: client 0, index 0 is a duplicate of client/exchanges.jsonl:1"),
    ],
)
def test_a_row_that_breaks_the_contract_is_named_with_its_value(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    why = reported(tmp_path, ROW, {**ROW, "index": 1, **change})
    assert why is not None
    assert words in why


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"index": 1, "mine": NaN}', "not JSON: NaN is not a number"),
        ('{"index": 1, "mine": [-Infinity]}', "not JSON: -Infinity is not a number"),
        ('{"index": 1, "index": 2}', "not JSON: index stands there twice"),
        ('{"index": 1, "error": "\\ud800"}', "not JSON: 'utf-8' codec can't encode"),
        ('{"index": 1}\r{"index": 2}', "not JSON: Extra data"),
        (
            '{"index": 1, "outcome": "completed", "start_ns": 110.0, "end_ns": 120}',
            "start_ns: Input should be a whole number (110.0)",
        ),
    ],
)
def test_what_the_tables_cannot_read_is_refused_with_its_place(line: str, words: str, tmp_path: Path) -> None:
    output = tmp_path / "client"
    output.mkdir()
    (output / "exchanges.jsonl").write_text(json.dumps(ROW) + "\n" + line + "\n")
    assert isinstance(SCENARIO.workload, RequestResponse)
    why = wrong_rows(output, SCENARIO.workload.model_copy(update={"exchanges": 2}), 100, 200)
    assert why is not None
    assert why.startswith(f"client/exchanges.jsonl:2: {words}")


@pytest.mark.parametrize("name", ["copies", "connections", "pushed_bytes", "wasted_pushed_bytes"])
def test_a_column_of_another_workload_is_refused_also_without_a_value(name: str, tmp_path: Path) -> None:
    kinds = " and ".join(workloads_with(name))
    refused = f"client/exchanges.jsonl:2: {name} is a column of {kinds}, not of this workload"
    for value in (1, None):
        assert reported(tmp_path, ROW, {**ROW, "index": 1, name: value}) == refused


def test_each_workload_takes_the_columns_of_its_extension_and_of_no_other(tmp_path: Path) -> None:
    every = {name for model in EXTENDED.values() for name in model.model_fields}
    for kind, model in EXTENDED.items():
        path = tmp_path / kind
        path.mkdir()
        for name in sorted(every - {*ROW, "error", "client"}):
            (path / "exchanges.jsonl").write_text(json.dumps({**ROW, name: True if name in FLAGS else 1}))
            if name in model.model_fields:
                assert len(list(read_rows(path, "exchanges", model))) == 1, (kind, name)
            else:
                with pytest.raises(WrongRowError, match=f"{name} is a column of"):
                    list(read_rows(path, "exchanges", model))


def test_what_nothing_answers_is_sent_and_not_completed(tmp_path: Path) -> None:
    sent = {**ROW, "outcome": "sent"}
    assert reported(tmp_path, sent, unanswered="qos = 0") is None
    assert reported(tmp_path, ROW, unanswered="qos = 0") == (
        "client/exchanges.jsonl:1: outcome is completed, and with qos = 0 nothing answers: it is sent"
    )
    assert "not within the trial" in str(reported(tmp_path, {**sent, "end_ns": 500}, unanswered="qos = 0"))


def test_every_client_has_a_row_of_each_index(tmp_path: Path) -> None:
    assert reported(tmp_path, ROW, {**ROW, "client": 1}) is None


def test_rows_that_are_missing_or_unreadable_are_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, exchanges=20) == (
        "the client wrote no rows in client/exchanges.jsonl, and the workload has 20 exchanges"
    )
    assert "wrote 1 rows" in str(reported(tmp_path, ROW, exchanges=2))
    assert "client/exchanges.jsonl:1: not a JSON object" in str(reported(tmp_path, [1]))
    (tmp_path / "client" / "exchanges.jsonl").write_text("{")
    assert "client/exchanges.jsonl:1: not JSON" in str(wrong_rows(tmp_path / "client", SCENARIO.workload, 100, 200))


def test_an_arrow_file_is_checked_in_the_same_way(tmp_path: Path) -> None:
    pl.DataFrame([{**ROW, "end_ns": 100}]).write_ipc(tmp_path / "exchanges.arrow")
    why = wrong_rows(tmp_path, SCENARIO.workload, 100, 200)
    assert why is not None
    assert "exchanges.arrow, row 1: end_ns is 10 ns before start_ns" in why
    (tmp_path / "exchanges.arrow").write_bytes(b"torn")
    assert "cannot be read" in str(wrong_rows(tmp_path, SCENARIO.workload, 100, 200))
