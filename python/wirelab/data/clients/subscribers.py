"""Subscribers that are programs: one process each, whose stdout has the messages.

usage: subscribers.py PARAMETERS FORM CONFIRMED PROGRAM ARGUMENTS...

FORM is how a message is written: `hex` (a line of hexadecimal digits), `events` (server-sent events, base64), `bytes`
(nothing but the bodies, one after the other). CONFIRMED is a pattern of the line from which on the program waits; of
`bytes` there is no such line, so it must be the server that knows when all wait.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from contract import Parameters, main, now
from hearing import Heard, events

FORM, CONFIRMED, *COMMAND = sys.argv[2:]
TIED = ("setpriv", "--pdeathsig", "KILL", "--")
HEX = re.compile(r"[0-9a-fA-F]{24,}")


class Client:
    """Reads what each program says."""

    def __init__(self, parameters: Parameters) -> None:
        self.length: int = parameters.workload.get("message_bytes", 0)

    async def subscribe(self, number: int, heard: Heard) -> Any:
        """Start a program, and wait until it says that it is subscribed."""
        process = await asyncio.create_subprocess_exec(
            *TIED,
            *COMMAND,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            limit=2**26,
        )
        assert process.stdout is not None
        confirmed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        reading = asyncio.create_task(self._read(process.stdout, heard, confirmed))
        try:
            await confirmed
        except BaseException:
            await self.close((process, reading))
            raise
        return process, reading

    async def _read(self, stdout: asyncio.StreamReader, heard: Heard, confirmed: asyncio.Future[None]) -> None:
        said = ""
        if FORM == "bytes":
            confirmed.set_result(None)
        else:
            async for said in self._lines(stdout):
                if re.search(CONFIRMED, said):
                    confirmed.set_result(None)
                    break
        if not confirmed.done():
            confirmed.set_exception(ConnectionError(f"it ended: {said.strip()}"))
        async for body in self._bodies(stdout):
            heard(body, now())

    async def _lines(self, stdout: asyncio.StreamReader) -> AsyncIterator[str]:
        while line := await stdout.readline():
            yield line.decode(errors="replace")

    async def _bodies(self, stdout: asyncio.StreamReader) -> AsyncIterator[bytes]:
        if FORM == "bytes":
            with suppress(asyncio.IncompleteReadError):  # it has ended
                while body := await stdout.readexactly(self.length):
                    yield body
        elif FORM == "events":
            async for body in events(stdout):
                yield body
        async for line in self._lines(stdout):
            if HEX.fullmatch(line.strip()):
                yield bytes.fromhex(line)

    async def close(self, subscription: Any) -> None:
        """End it."""
        process, reading = subscription
        reading.cancel()
        if process.returncode is None:
            process.kill()
        await process.wait()


main(Client)
