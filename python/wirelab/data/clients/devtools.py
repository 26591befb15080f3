"""The Chrome DevTools Protocol over `--remote-debugging-pipe`: JSON messages that end with a zero byte."""

from __future__ import annotations

import json
import os
import select
import time
from collections import deque
from typing import Any

Message = dict[str, Any]
CALL_TIMEOUT_S = 30.0


class DevToolsError(Exception):
    """The browser refused a call, did not answer it, or is gone."""


class DevTools:
    """One connection: calls that wait for their answer, and the events that come in between, in their order.

    Timestamps of the protocol's type `MonotonicTime` are Chromium's TimeTicks in seconds, on Linux CLOCK_MONOTONIC.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing
        self._calls = 0
        self._rest = b""
        self._waiting: deque[Message] = deque()

    def send(self, method: str, session: str | None = None, **params: Any) -> int:
        """Call a method and do not wait; its answer comes among the events, with this `id`."""
        self._calls += 1
        message: Message = {"id": self._calls, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._writing, data) :]
        except OSError as error:
            raise DevToolsError(f"the browser is gone: {error.strerror}") from None
        return self._calls

    def call(self, method: str, session: str | None = None, **params: Any) -> Message:
        """Call a method: its result. Events that come before it are kept for `event`."""
        number = self.send(method, session, **params)
        kept: list[Message] = []
        until_s = time.monotonic() + CALL_TIMEOUT_S
        try:
            while (message := self.event(until_s)) is not None:
                if message.get("id") == number:
                    return answer(method, message)
                kept.append(message)
        finally:
            self._waiting.extendleft(reversed(kept))
        raise DevToolsError(f"{method} was not answered within {CALL_TIMEOUT_S:.0f} s")

    def event(self, until_s: float) -> Message | None:
        """The next message, an event or an answer; none if there is none until then."""
        while not self._waiting:
            if not select.select([self._reading], [], [], max(0.0, until_s - time.monotonic()))[0]:
                return None
            if not (data := os.read(self._reading, 1 << 20)):
                raise DevToolsError("the browser is gone")
            *whole, self._rest = (self._rest + data).split(b"\0")
            self._waiting.extend(map(json.loads, whole))
        return self._waiting.popleft()


def answer(method: str, message: Message) -> Message:
    """The result in an answer."""
    if (error := message.get("error")) is not None:
        raise DevToolsError(f"{method}: {error.get('message')}")
    result: Message = message["result"]
    return result
