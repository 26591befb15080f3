"""The client's half of the endpoint contract (docs/contract.md) for programs on asyncio.

A client gives `connect`, `exchange` and `close`; this keeps the arrival process, the places, the connection policy, the
time-out, the outcome and the file of exchanges. One that waits gives `subscribe` and `close` (`hearing.py`); one may do
both. It needs nothing but Python's own library.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from arrivals import KNOWN, instants_ns, is_drawn, last_gap
from hearing import CONNECTED, hear
from row_files import write_rows

USAGE, UNSUPPORTED = 2, 3
Row = dict[str, Any]


class UnsupportedError(Exception):
    """The client does not do this protocol, role, workload or setting."""


class Client(Protocol):
    """What speaks the protocol. Both stamp phases into the row: names as in `schema/exchange.json`, see `now`."""

    async def connect(self, row: Row) -> Any:
        """Open a connection."""

    async def exchange(self, connection: Any, row: Row) -> None:
        """Carry out one exchange; an exception fails it."""

    async def close(self, connection: Any) -> None:
        """Say good-bye."""


def is_unanswered(client: Client) -> bool:
    """Whether nothing answers a message, so that an exchange is sent and never completed: `unanswered` of a client."""
    return bool(getattr(client, "unanswered", False))


def now() -> int:
    """CLOCK_MONOTONIC in nanoseconds, the clock of every instant in a row."""
    return time.monotonic_ns()


class Parameters:
    """The parameter file, with what the two request kinds have in common."""

    def __init__(self, path: str) -> None:
        self.all = json.loads(Path(path).read_text(encoding="utf-8"))
        self.protocol: str = self.all["protocol"]
        self.address: str = self.all["server"]["address"]
        self.port: int = self.all["server"]["port"]
        self.name: str = self.all["server"]["name"]
        self.settings: dict[str, Any] = self.all["settings"]
        self.certificates: dict[str, str] = self.all.get("certificates") or {}
        self.workload: dict[str, Any] = self.all["workload"]
        kind = self.workload["kind"]
        self.waits = kind == "pubsub"
        self.upload_bytes = 0
        if self.all["role"] != "client" or kind not in {"request-response", "telemetry", "pubsub"}:
            raise UnsupportedError(f"role {self.all['role']}, workload {kind}")
        arrival = self.workload["arrival"]
        # Of a message that never comes, only the publisher that draws the instants knows when it was due.
        if arrival["process"] not in KNOWN or (self.waits and is_drawn(arrival)):
            raise UnsupportedError(f"workload {kind} with arrival {json.dumps(arrival)}")
        if self.workload.get("wait", CONNECTED) != CONNECTED:
            raise UnsupportedError(f"workload {kind} with wait {json.dumps(self.workload['wait'])}")
        if not self.waits and self.workload["connection"]["policy"] not in {"new", "persistent"}:
            raise UnsupportedError(f"connection policy {self.workload['connection']['policy']}")
        if self.workload.get("retry"):
            raise UnsupportedError("retry: no message is kept and retried")
        self.downloads = [0]
        if kind == "telemetry":
            self.upload_bytes = self.workload["message_bytes"]
        elif kind == "request-response":
            self.upload_bytes, sizes = self.workload["upload_bytes"], self.workload["download_bytes"]
            self.downloads = [sizes] if isinstance(sizes, int) else sizes

    def download_of(self, row: Row) -> int:
        """Size of the answer to an exchange: of several each in its turn."""
        return self.downloads[int(row["index"]) % len(self.downloads)]


def main(make: Any) -> None:
    """Perform the workload of the parameter file that the command line names with `make(parameters)`."""
    try:
        parameters = Parameters(sys.argv[1])
        client = make(parameters)
        if not hasattr(client, "subscribe" if parameters.waits else "exchange"):
            raise UnsupportedError(f"workload {parameters.workload['kind']}")
    except UnsupportedError as error:
        print(error, file=sys.stderr)
        sys.exit(UNSUPPORTED)
    except (IndexError, KeyError, OSError, ValueError) as error:
        print(f"cannot read the parameters: {error!r}", file=sys.stderr)
        sys.exit(USAGE)
    work = (
        hear(client, parameters.workload, parameters.all["seed"]) if parameters.waits else _perform(client, parameters)
    )
    rows = asyncio.run(work)
    write_rows(Path(parameters.all["output"]) / "exchanges.jsonl", rows)


async def _perform(client: Client, parameters: Parameters) -> list[Row]:
    workload = parameters.workload
    rows: list[Row] = []
    print(json.dumps({"event": "ready", "ports": {}, "cpu_ns": time.process_time_ns()}), flush=True)

    async def one(number: int) -> tuple[_Kept, int]:
        device = workload.get("device") or {}
        draw = random.Random(f"{parameters.all['seed']} {number}")
        of_device = random.Random(f"{parameters.all['seed']} {number} device")
        begin_ns = now() + round(of_device.random() * device.get("start_phase_ns", 0))
        second = 1 + (2 * of_device.random() - 1) * device.get("drift_ppb", 0) / 1e9
        exchanges = workload["exchanges"]
        instants = [begin_ns + round(second * at) for at in instants_ns(workload["arrival"], exchanges, draw, number)]
        starts: list[int | None] = [*instants[:-1]] if instants else [None] * exchanges
        schedule = enumerate(starts)
        kept = _Kept(client, workload["connection"], device)
        await _pass(max(0, begin_ns - now()) / 1e9)
        places = range(min(workload["concurrency"], exchanges))
        await asyncio.gather(*(_place(number, schedule, kept, workload["timeout_ns"], rows) for _ in places))
        return kept, instants[-1] if instants else 0

    done = await asyncio.gather(*(one(number) for number in range(workload.get("clients", 1))))
    await last_gap(max(end_ns for _, end_ns in done))
    for kept, _ in done:
        await kept.close()
    return rows


async def _pass(seconds: float) -> None:
    """Let time pass; without any, other tasks have no turn either."""
    if seconds > 0:
        await asyncio.sleep(seconds)


class _Kept:
    """Connections that exchanges take turns on; with the fresh policy each exchange opens its own."""

    def __init__(self, client: Client, policy: dict[str, Any], device: dict[str, int]) -> None:
        self.client, self.fresh = client, policy["policy"] == "new"
        self.handshake_s, self.message_s = (device.get(key, 0) / 1e9 for key in ("handshake_ns", "message_ns"))
        self.slots: asyncio.Queue[Any] = asyncio.Queue()
        for _ in range(policy.get("connections", 0)):
            self.slots.put_nowait(None)

    async def carry_out(self, row: Row) -> None:
        connection = None if self.fresh else await self.slots.get()
        broken = True
        try:
            row["connection_reused"] = connection is not None
            if connection is None:
                await _pass(self.handshake_s)
                connection = await self.client.connect(row)
            await _pass(self.message_s)
            await self.client.exchange(connection, row)
            row["end_ns"] = now()
            broken = False
        finally:
            if not self.fresh:
                self.slots.put_nowait(None if broken else connection)
            if connection is not None and (self.fresh or broken):
                with suppress(Exception):  # how a connection ends is no part of the exchange
                    await self.client.close(connection)

    async def close(self) -> None:
        while not self.slots.empty():
            if (connection := self.slots.get_nowait()) is not None:
                await self.client.close(connection)


async def _place(
    number: int, schedule: Iterator[tuple[int, int | None]], kept: _Kept, timeout_ns: int, rows: list[Row]
) -> None:
    carried = "sent" if is_unanswered(kept.client) else "completed"
    for index, intended_ns in schedule:
        if intended_ns is not None:
            await asyncio.sleep(max(0, intended_ns - now()) / 1e9)
        start_ns = now()
        row = {
            "index": index,
            "client": number,
            "intended_start_ns": start_ns if intended_ns is None else intended_ns,
            "start_ns": start_ns,
            "outcome": carried,
        }
        try:
            await asyncio.wait_for(kept.carry_out(row), timeout_ns / 1e9)
        except TimeoutError:
            # Late good-byes do not count: the whole answer had come.
            row["outcome"] = carried if "end_ns" in row else "timed-out"
        except Exception as error:  # whatever a library raises fails its exchange, never the endpoint
            row["outcome"], row["error"] = "failed", " ".join(f"{type(error).__name__}: {error}".split())
        row.setdefault("end_ns", now())
        rows.append(row)
