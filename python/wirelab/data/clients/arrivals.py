"""Arrival processes of the endpoint contract: when each message is due, and the gap after the last."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from contextlib import suppress
from math import ceil
from typing import Any

KNOWN = {"closed", "fixed", "poisson", "periodic", "bursts"}
_EVEN = {"fixed", "periodic", "bursts"}

Arrival = dict[str, Any]


def is_drawn(arrival: Arrival) -> bool:
    """Whether only those who draw the instants know them, or nobody does."""
    return arrival["process"] not in _EVEN or arrival.get("jitter_ns", 0) > 0


def instants_ns(arrival: Arrival, messages: int, draw: random.Random, client: int = 0) -> list[float]:
    """When each message is due and, as the last, when the one after them would be: nanoseconds from the first instant.

    Clients after the first begin at a phase, except for random gaps. None of these in a closed loop.
    """
    process = arrival["process"]
    if process == "closed":
        return []
    if process == "poisson":
        gap_ns, found = 1e9 / arrival["rate_hz"], [0.0]
        for _ in range(messages - 1):
            found.append(found[-1] + gap_ns * draw.expovariate(1))
        return [*found, found[-1] + gap_ns]
    every_ns = 1e9 / arrival["rate_hz"] if process == "fixed" else float(arrival["interval_ns"])
    size = _burst_size(arrival) if process == "bursts" else 1
    phase_ns = draw.random() * every_ns if client else 0.0
    jitter_ns = arrival.get("jitter_ns", 0)
    found = []
    for index in range(messages):
        burst, place = divmod(index, size)
        off_ns = (draw.random() - 0.5) * jitter_ns if jitter_ns else 0.0
        within_ns = place * 1e9 / arrival["rate_hz"] if place else 0.0
        found.append(max(0.0, phase_ns + burst * every_ns + within_ns + off_ns))
    return [*found, phase_ns + ceil(messages / size) * every_ns]


def _burst_size(arrival: Arrival) -> int:
    """Messages of a burst. Rounding adds none at its very end."""
    messages: float = arrival["duration_ns"] * arrival["rate_hz"] / 1e9
    return max(1, ceil(messages - 1e-6))


async def last_gap(end_ns: int) -> None:
    """Let the time pass until the message after the last would be due, or until SIGTERM: the rows are complete."""
    left_ns = end_ns - time.monotonic_ns()
    if left_ns <= 0:
        return
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    with suppress(TimeoutError):
        await asyncio.wait_for(stopped.wait(), left_ns / 1e9)
