"""The waiting half of the endpoint contract: subscribers that get messages, and a row for each message and subscriber.

A client that waits has `subscribe(number, heard)`, which returns once the other side has confirmed the subscription and
from then on calls `heard(body, at_ns)`, in the loop's thread, for each message; and `close(subscription)`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from arrivals import instants_ns, last_gap
from keystream import payload

TIMEOUT_S = 20
"""How long the others wait for a subscriber, and all for the first message before its time-out begins."""
STAMP = struct.Struct(">IQ")
"""What a message begins with: its index, and when it was published."""

CONNECTED = {"by": "connected"}
"""The one way of waiting that these clients know."""

Row = dict[str, Any]
Heard = Callable[[bytes, int], None]


async def events(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The messages of a stream of server-sent events, each in base64 on one line of data."""
    while line := await stream.readline():
        if line.startswith(b"data:"):
            yield base64.b64decode(line.removeprefix(b"data:").strip())


class Waiting(Protocol):
    """What speaks the protocol."""

    async def subscribe(self, number: int, heard: Heard) -> Any:
        """Open a connection and subscribe, confirmed."""

    async def close(self, subscription: Any) -> None:
        """Say good-bye."""


@dataclass
class Subscriber:
    """What one has heard: of each message when it was published, when it came first, and how often."""

    arrivals: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    error: str | None = None


class Audience:
    """All subscribers of a trial."""

    def __init__(self, workload: dict[str, Any], seed: int) -> None:
        self.messages: int = workload["messages"]
        self.length: int = workload["message_bytes"]
        self.rest = payload(seed, self.length - STAMP.size)
        self.timeout_ns: int = workload["timeout_ns"]
        # Nothing is drawn: `is_drawn` is false.
        *due_ns, end_ns = instants_ns(workload["arrival"], self.messages, random.Random(0))
        self.due_ns = [round(at) for at in due_ns]
        self.end_ns = round(end_ns)
        """When the message after the last would be due; both from the first instant."""
        self.subscribers = [Subscriber() for _ in range(workload["subscribers"])]
        self.origin_ns: int | None = None
        self.learned = asyncio.Event()
        """Set when a message shows that publishing began earlier than was known, and when none is missing."""

    def heard(self, subscriber: Subscriber, body: bytes, at_ns: int) -> None:
        """One message; what is none is this subscriber's error."""
        index, published_ns = STAMP.unpack_from(body) if len(body) >= STAMP.size else (self.messages, 0)
        if index >= self.messages or body[STAMP.size :] != self.rest:
            subscriber.error = f"what came differs from what was published: {len(body)} bytes, index {index}"
            return
        first = subscriber.arrivals.get(index, (published_ns, at_ns, 0))
        subscriber.arrivals[index] = (*first[:2], first[2] + 1)
        # No message is published before it is due, so the earliest that any stamp allows.
        origin_ns = published_ns - self.due_ns[index]
        if self.origin_ns is None or origin_ns < self.origin_ns:
            self.origin_ns = origin_ns
            self.learned.set()
        if self.is_complete():
            self.learned.set()

    def is_complete(self) -> bool:
        """Whether every message has come to every subscriber."""
        return all(len(each.arrivals) == self.messages for each in self.subscribers)

    async def wait(self) -> None:
        """Until every message has come to every subscriber, or the time of the last is up."""
        ready_ns = time.monotonic_ns()
        while not self.is_complete():
            origin_ns = self.origin_ns or ready_ns + TIMEOUT_S * 10**9
            left_ns = origin_ns + self.due_ns[-1] + self.timeout_ns - time.monotonic_ns()
            if left_ns <= 0:
                break
            self.learned.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.learned.wait(), left_ns / 1e9)
        self.origin_ns = self.origin_ns or ready_ns

    async def stay(self) -> None:
        """Until the last message has had its gap: subscriptions stay, as they do between two messages."""
        assert self.origin_ns is not None, "wait() sets it"
        await last_gap(self.origin_ns + self.end_ns)

    def rows(self) -> list[Row]:
        """One for each message and subscriber."""
        return [self._row(number, index) for number in range(len(self.subscribers)) for index in range(self.messages)]

    def _row(self, number: int, index: int) -> Row:
        assert self.origin_ns is not None, "wait() sets it"
        subscriber = self.subscribers[number]
        intended_ns = self.origin_ns + self.due_ns[index]
        up_ns = intended_ns + self.timeout_ns
        row: Row = {"client": number, "index": index, "intended_start_ns": intended_ns, "connection_reused": True}
        if index not in subscriber.arrivals:
            row |= {"start_ns": intended_ns, "end_ns": up_ns, "outcome": "timed-out", "copies": 0}
            return row if subscriber.error is None else {**row, "outcome": "failed", "error": subscriber.error}
        published_ns, came_ns, copies = subscriber.arrivals[index]
        outcome = "completed" if came_ns <= up_ns else "timed-out"
        row |= {"start_ns": published_ns, "end_ns": min(came_ns, up_ns), "outcome": outcome, "copies": copies}
        return row | {"body_received_bytes": self.length}


async def hear(client: Waiting, workload: dict[str, Any], seed: int) -> list[Row]:
    """Perform the workload: say `ready` when all wait, and return the rows."""
    audience = Audience(workload, seed)

    async def subscribe(number: int, subscriber: Subscriber) -> Any:
        try:
            return await asyncio.wait_for(client.subscribe(number, partial(audience.heard, subscriber)), TIMEOUT_S)
        except Exception as error:  # whatever a library raises fails this subscriber's messages, never the endpoint
            subscriber.error = f"subscribing: {type(error).__name__}: {' '.join(str(error).split())}"
            return None

    subscriptions = await asyncio.gather(*(subscribe(*each) for each in enumerate(audience.subscribers)))
    print(json.dumps({"event": "ready", "ports": {}}), flush=True)
    await audience.wait()
    await audience.stay()
    rows = audience.rows()
    for subscription in filter(None, subscriptions):
        with suppress(Exception):  # how a connection ends is no part of it
            await client.close(subscription)
    return rows
