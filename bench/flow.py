"""The probe: packets that tell when they were sent, stamped by the kernel when they arrive, over any path."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.peers import SERVER, Ends, Peer, Stages
from bench.process import FailedError, Place

PORT = 9000
UDP_BYTES = 28
"""IPv4 and UDP headers."""
LEAST_PAYLOAD = 16
_ENDS_S = 10.0
"""What the two ends take beyond the packets."""

Nanoseconds = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """What is sent."""

    packets: int
    interval_us: float
    spread: bool = True
    at_once: int = 1
    payload: int = LEAST_PAYLOAD
    drain_s: float = 0.0
    """How much longer than the sender the path may take."""

    @property
    def ip_bytes(self) -> int:
        """Of each packet."""
        return self.payload + UDP_BYTES

    @property
    def seconds(self) -> float:
        """How long sending takes."""
        return self.packets * self.interval_us / 1e6


@dataclass(frozen=True)
class Received:
    """What arrived, in order of arrival; instants are CLOCK_MONOTONIC."""

    number: Nanoseconds
    sent_ns: Nanoseconds
    received_ns: Nanoseconds

    @property
    def one_way_us(self) -> npt.NDArray[np.float64]:
        """From sending to the kernel's receive stamp."""
        return (self.received_ns - self.sent_ns) / 1e3


def send(instruments: Path, peer: Peer, stages: Stages, plan: Plan, place: Place) -> Received:
    """Send a flow over a path."""
    to = f"{SERVER}:{PORT}"
    source = [str(instruments), "flow", "source", "--to", to]
    source += ["--packets", str(plan.packets), "--at-once", str(plan.at_once)]
    source += ["--interval-us", f"{plan.interval_us:.3f}", "--payload", str(plan.payload), *["--spread"] * plan.spread]
    source += ["--stay-s", f"{plan.drain_s:.3f}"]
    sink = [str(instruments), "flow", "sink", "--at", to, "--silence-s", f"{round(plan.drain_s) + 5}"]
    ends = Ends(tuple(sink), tuple(source), PORT, plan.seconds + plan.drain_s + _ENDS_S)
    return read(peer.play(stages, ends, place))


def read(text: str) -> Received:
    """The lines of a sink."""
    try:
        values = np.array([line.split()[:3] for line in text.splitlines()], dtype=np.int64).reshape(-1, 3)
    except ValueError:
        raise FailedError(f"the receiver said: {text.strip().splitlines()[-1]}") from None
    return Received(values[:, 0], values[:, 1], values[:, 2])
