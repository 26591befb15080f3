"""The waiting half of the shipped scripts: rows for each message and subscriber, and bodies byte by byte."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CLIENTS = Path(str(resources.files("wirelab.data").joinpath("clients")))
LENGTH, SEED = 30, 7
Heard = Callable[[bytes, int], None]


@pytest.fixture
def hearing(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(CLIENTS))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return importlib.reload(importlib.import_module("hearing"))


def message(hearing: ModuleType, index: int, published_ns: int) -> bytes:
    body: bytes = hearing.STAMP.pack(index, published_ns) + hearing.payload(SEED, LENGTH - hearing.STAMP.size)
    return body


class Script:
    """Each subscriber gets what `script` has for its number, at once; an exception refuses it."""

    def __init__(self, script: list[list[bytes] | Exception]) -> None:
        self.script, self.closed = script, 0

    async def subscribe(self, number: int, heard: Heard) -> int:
        reported = self.script[number]
        if isinstance(reported, Exception):
            raise reported
        for body in reported:
            asyncio.get_running_loop().call_soon(heard, body, time.monotonic_ns())
        return number + 1

    async def close(self, subscription: int) -> None:
        self.closed += 1


FIXED = {"process": "fixed", "rate_hz": 1000.0}


def hear(
    hearing: ModuleType,
    script: list[list[bytes] | Exception],
    messages: int,
    timeout_ns: int = 10**12,
    arrival: dict[str, Any] = FIXED,
) -> tuple[list[dict[str, Any]], Script]:
    reported = Script(script)
    workload = {
        "messages": messages, "message_bytes": LENGTH, "timeout_ns": timeout_ns, "subscribers": len(script),
        "arrival": arrival,
    }  # fmt: skip
    rows: list[dict[str, Any]] = asyncio.run(hearing.hear(reported, workload, SEED))
    return rows, reported


def test_each_message_to_each_subscriber_is_a_row_from_its_publication(
    hearing: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic_ns()
    bodies = [message(hearing, index, began + index * 10**6) for index in range(2)]
    rows, reported = hear(hearing, [bodies, [*bodies, bodies[1]]], messages=2)
    assert json.loads(capsys.readouterr().out) == {"event": "ready", "ports": {}}
    assert [(row["client"], row["index"]) for row in rows] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert {row["outcome"] for row in rows} == {"completed"}
    assert [row["start_ns"] - began for row in rows] == [0, 10**6] * 2
    assert [row["intended_start_ns"] - began for row in rows] == [0, 10**6] * 2
    # The last comes again once all is complete, so it may not be counted any more.
    assert [row["copies"] for row in rows][:3] == [1, 1, 1]
    assert reported.closed == 2


def test_a_message_that_never_comes_is_timed_out_from_when_it_was_due(hearing: ModuleType) -> None:
    began = time.monotonic_ns()
    rows, _ = hear(hearing, [[message(hearing, 0, began)]], messages=2, timeout_ns=10**7)
    assert rows[1] == {
        "client": 0, "index": 1, "intended_start_ns": began + 10**6, "start_ns": began + 10**6,
        "connection_reused": True, "end_ns": began + 10**6 + 10**7, "outcome": "timed-out", "copies": 0,
    }  # fmt: skip


def test_a_message_that_comes_too_late_is_timed_out_and_counted(hearing: ModuleType) -> None:
    published_ns = time.monotonic_ns() - 10**9
    [row], _ = hear(hearing, [[message(hearing, 0, published_ns)]], messages=1, timeout_ns=10**7)
    assert (row["outcome"], row["copies"]) == ("timed-out", 1)
    assert row["end_ns"] == published_ns + 10**7


def test_a_subscription_stays_for_the_gap_after_the_last_message(hearing: ModuleType) -> None:
    bursts = {"process": "bursts", "interval_ns": 80_000_000, "rate_hz": 1000.0, "duration_ns": 2_000_000}
    # Of the periodic messages the second is published 39 ms early, so that the first instant seems as much earlier.
    for arrival, ms in ((bursts, 80), ({"process": "periodic", "interval_ns": 40_000_000}, 41)):
        began = time.monotonic_ns()
        bodies = [message(hearing, index, began + index * 10**6) for index in range(2)]
        rows, reported = hear(hearing, [bodies], messages=2, arrival=arrival)
        assert [row["outcome"] for row in rows] == ["completed"] * 2
        assert time.monotonic_ns() - began >= ms * 10**6
        assert reported.closed == 1


def test_a_wrong_message_fails_the_missing_one(hearing: ModuleType) -> None:
    right = message(hearing, 0, time.monotonic_ns())
    wrong = right[:-1] + bytes([right[-1] ^ 1])
    for body in (wrong, right[:-1], message(hearing, 5, 1), b""):
        rows, _ = hear(hearing, [[body], [right]], messages=1, timeout_ns=10**7)
        assert [(row["outcome"] == "failed", row["copies"]) for row in rows] == [(True, 0), (False, 1)]
        assert "what came differs from what was published" in rows[0]["error"]


def test_a_subscriber_that_fails_is_reported_and_the_others_continue(hearing: ModuleType) -> None:
    right = message(hearing, 0, time.monotonic_ns())
    rows, reported = hear(hearing, [OSError("refused"), [right]], messages=1, timeout_ns=10**7)
    assert rows[0]["error"] == "subscribing: OSError: refused"
    assert [row["copies"] for row in rows] == [0, 1]
    assert reported.closed == 1


def test_a_longer_body_starts_with_the_shorter_one_and_another_seed_has_another(hearing: ModuleType) -> None:
    # As the built-in endpoints make it: `GET /bytes/8` of a trial with this seed.
    assert hearing.payload(1234567890123456789, 8).hex() == "ae21804b9b1dd9f3"
    assert hearing.payload(SEED, 3500)[:30] == hearing.payload(SEED, 30)
    assert hearing.payload(8, 30) != hearing.payload(SEED, 30)
    assert hearing.payload(SEED, 0) == b""
