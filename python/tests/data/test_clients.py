"""The shipped scripts' half of the contract: arrival process, connection policy, time-out, outcome, file."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import time
from collections.abc import Callable
from importlib import resources
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CLIENTS = Path(str(resources.files("wirelab.data").joinpath("clients")))


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a script next to them were run, and without leaving compiled files there."""
    monkeypatch.syspath_prepend(str(CLIENTS))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def load(name: str) -> ModuleType:
    """One of the modules, as new."""
    return importlib.reload(importlib.import_module(name))


class Fake:
    """Counts what it is asked for; its exchanges do as `script` says, in order."""

    def __init__(self, script: list[Exception | float | None]) -> None:
        self.script, self.opened, self.closed = script, 0, 0

    async def connect(self, row: dict[str, Any]) -> int:
        self.opened += 1
        return self.opened

    async def exchange(self, connection: int, row: dict[str, Any]) -> None:
        step = self.script.pop(0) if self.script else None
        if isinstance(step, Exception):
            raise step
        await asyncio.sleep(step or 0)

    async def close(self, connection: int) -> None:
        self.closed += 1


def perform(
    tmp_path: Path, fake: Fake, seen: Callable[[Any], None] = lambda _: None, **changed: Any
) -> list[dict[str, Any]]:
    workload = {
        "kind": "request-response", "upload_bytes": 3, "download_bytes": 4, "exchanges": 3,
        "arrival": {"process": "closed"}, "concurrency": 1, "timeout_ns": 10**9,
        "connection": {"policy": "new"}, **changed,
    }  # fmt: skip
    parameters = {
        "protocol": "h2", "role": "client", "server": {"address": "10.0.0.2", "port": 1, "name": "s"}, "settings": {},
        "workload": workload, "certificates": None, "output": str(tmp_path), "seed": 7,
    }  # fmt: skip
    path = tmp_path / "parameters.json"
    path.write_text(json.dumps(parameters))
    module = load("contract")
    before, sys.argv = sys.argv, ["client", str(path)]
    try:
        module.main(lambda parameters: (seen(parameters), fake)[1])
    finally:
        sys.argv = before
    return [json.loads(line) for line in (tmp_path / "exchanges.jsonl").read_text().splitlines()]


def test_a_new_connection_serves_one_exchange_and_is_closed(tmp_path: Path) -> None:
    fake = Fake([])
    rows = perform(tmp_path, fake)
    assert (fake.opened, fake.closed) == (3, 3)
    assert [row["index"] for row in rows] == [0, 1, 2]
    assert not any(row["connection_reused"] for row in rows)


def test_a_persistent_connection_is_reused_until_it_breaks(tmp_path: Path) -> None:
    fake = Fake([None, OSError("reset"), None])
    rows = perform(tmp_path, fake, connection={"policy": "persistent", "connections": 1})
    assert [row["connection_reused"] for row in rows] == [False, True, False]
    assert [row["outcome"] for row in rows] == ["completed", "failed", "completed"]
    assert rows[1]["error"] == "OSError: reset"
    assert (fake.opened, fake.closed) == (2, 2)


def test_an_exchange_longer_than_the_timeout_is_timed_out(tmp_path: Path) -> None:
    rows = perform(tmp_path, Fake([30.0]), timeout_ns=10**7, exchanges=2)
    assert [row["outcome"] for row in rows] == ["timed-out", "completed"]


def test_an_open_loop_keeps_the_intended_starts(tmp_path: Path) -> None:
    rows = perform(tmp_path, Fake([]), arrival={"process": "fixed", "rate_hz": 1000.0})
    intended = [row["intended_start_ns"] for row in rows]
    assert [later - earlier for earlier, later in pairwise(intended)] == [10**6, 10**6]
    assert all(row["start_ns"] >= row["intended_start_ns"] for row in rows)


@pytest.mark.parametrize(
    ("arrival", "ms"),
    [
        ({"process": "fixed", "rate_hz": 20.0}, 150),
        ({"process": "periodic", "interval_ns": 50_000_000}, 150),
        ({"process": "bursts", "interval_ns": 90_000_000, "rate_hz": 100.0, "duration_ns": 20_000_000}, 180),
    ],
)
def test_an_open_loop_ends_one_gap_after_its_last_message(tmp_path: Path, arrival: dict[str, Any], ms: int) -> None:
    closed_ns: list[int] = []

    class Closing(Fake):
        async def close(self, connection: int) -> None:
            closed_ns.append(time.monotonic_ns())

    rows = perform(tmp_path, Closing([]), arrival=arrival, connection={"policy": "persistent", "connections": 1})
    assert closed_ns[0] - rows[0]["intended_start_ns"] >= ms * 10**6


def test_a_client_refuses_an_arrival_it_does_not_know(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        perform(tmp_path, Fake([]), arrival={"process": "tidal", "rate_hz": 1.0})
    assert exit_.value.code == 3
    assert "tidal" in capsys.readouterr().err


def test_a_subscriber_refuses_instants_that_it_cannot_know(tmp_path: Path) -> None:
    for arrival in (
        {"process": "poisson", "rate_hz": 1.0},
        {"process": "periodic", "interval_ns": 10**9, "jitter_ns": 1},
        {"process": "closed"},
    ):
        with pytest.raises(SystemExit) as exit_:
            perform(tmp_path, Fake([]), kind="pubsub", arrival=arrival)
        assert exit_.value.code == 3


def test_a_subscriber_refuses_a_way_of_waiting_that_it_does_not_know(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arrival = {"process": "fixed", "rate_hz": 1.0}
    with pytest.raises(SystemExit) as exit_:
        perform(tmp_path, Fake([]), kind="pubsub", arrival=arrival, wait={"by": "poll", "every_ns": 10**9})
    assert exit_.value.code == 3
    assert '"poll"' in capsys.readouterr().err


def test_each_client_of_a_population_has_its_own_exchanges(tmp_path: Path) -> None:
    rows = perform(tmp_path, Fake([]), clients=2)
    assert sorted((row["client"], row["index"]) for row in rows) == [(c, i) for c in range(2) for i in range(3)]


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "stream"},
        {"kind": "pubsub", "arrival": {"process": "fixed", "rate_hz": 1.0}},
        {"connection": {"policy": "resumed"}},
    ],
)
def test_unsupported_work_exits_with_3(tmp_path: Path, changed: dict[str, Any]) -> None:
    with pytest.raises(SystemExit) as exit_:
        perform(tmp_path, Fake([]), **changed)
    assert exit_.value.code == 3


def test_sizes_in_turn_go_by_the_index(tmp_path: Path) -> None:
    asked: list[int] = []

    class Asking(Fake):
        async def exchange(self, connection: int, row: dict[str, Any]) -> None:
            asked.append(parameters[0].download_of(row))

    parameters: list[Any] = []
    fake = Asking([])
    perform(tmp_path, fake, download_bytes=[9, 5], exchanges=3, seen=parameters.append)
    assert asked == [9, 5, 9]
