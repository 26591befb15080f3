"""CoAP over UDP by aiocoap: the server's half of the contract."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

from aiocoap import BAD_REQUEST, CHANGED, CONTENT, Context, Message, resource
from arrivals import instants_ns, is_drawn
from hearing import CONNECTED, STAMP
from keystream import payload

UNSUPPORTED = 3
KINDS = {"request-response", "telemetry", "pubsub"}
PAYLOAD_FORMAT = 65_000
"""Content-Format of the key stream, as the built-in endpoints have it."""


class Bytes(resource.Resource, resource.PathCapable):
    """`GET /bytes/N`."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.body = cache(partial(payload, seed))

    async def render_get(self, request: Message) -> Message:
        """So many bytes."""
        body = self.body(int(request.opt.uri_path[-1]))
        return Message(code=CONTENT, payload=body, content_format=PAYLOAD_FORMAT)


class Upload(resource.Resource):
    """`POST /upload`: what is marked as such must be the key stream, any other body as long."""

    def __init__(self, body: bytes, answer: bytes) -> None:
        super().__init__()
        self.body, self.answer = body, answer

    async def render_post(self, request: Message) -> Message:
        """Say whether it is right."""
        ours = request.opt.content_format == PAYLOAD_FORMAT
        right = request.payload == self.body if ours else len(request.payload) == len(self.body)
        if not right:
            return Message(code=BAD_REQUEST)
        return Message(code=CHANGED, payload=self.answer, content_format=PAYLOAD_FORMAT if self.answer else None)


class Changes(resource.ObservableResource):
    """`/changes`: changes at its instants once all observe it."""

    def __init__(self, workload: dict[str, Any], seed: int) -> None:
        super().__init__()
        self.workload, self.state = workload, b""
        self.rest = payload(seed, workload["message_bytes"] - STAMP.size)
        self.changing: asyncio.Task[None] | None = None

    async def render_get(self, request: Message) -> Message:
        """The state as it is."""
        return Message(code=CONTENT, payload=self.state)

    def update_observation_count(self, newcount: int) -> None:
        """Begin when all are there."""
        if newcount >= self.workload["subscribers"] and self.changing is None:
            self.changing = asyncio.get_running_loop().create_task(self._change())

    async def _change(self) -> None:
        start = time.monotonic()
        # Nothing is drawn: `is_drawn` is false.
        *due_ns, _ = instants_ns(self.workload["arrival"], self.workload["messages"], random.Random(0))
        for index, at_ns in enumerate(due_ns):
            await asyncio.sleep(start + at_ns / 1e9 - time.monotonic())
            self.state = STAMP.pack(index, time.monotonic_ns()) + self.rest
            self.updated_state()


async def serve(parameters: dict[str, Any]) -> None:
    """Until SIGTERM."""
    workload, address = parameters["workload"], parameters["server"]
    site = resource.Site()
    seed = parameters["seed"]
    site.add_resource(["bytes"], Bytes(seed))
    if workload["kind"] == "pubsub":
        site.add_resource(["changes"], Changes(workload, seed))
    else:
        upload, download = (
            workload.get("message_bytes", workload.get("upload_bytes")),
            workload.get("download_bytes", 0),
        )
        site.add_resource(["upload"], Upload(payload(seed, upload), payload(seed, download)))
    context = await Context.create_server_context(site, bind=(address["address"], address["port"]))
    print(json.dumps({"event": "ready", "ports": {"main": address["port"]}}), flush=True)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()
    await context.shutdown()


def main() -> int:
    """3 for what it does not do."""
    parameters = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    workload = parameters["workload"]
    publishes = workload["kind"] == "pubsub"
    drawn = publishes and is_drawn(workload["arrival"])
    if workload["kind"] not in KINDS or drawn or workload.get("wait", CONNECTED) != CONNECTED:
        print(f"workload {workload}", file=sys.stderr)
        return UNSUPPORTED
    asyncio.run(serve(parameters))
    return 0


if __name__ == "__main__":
    sys.exit(main())
