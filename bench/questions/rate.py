"""How exact is a rate? Measured at the receiver by the kernel's stamps, while packets wait for it throughout."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.flow import UDP_BYTES, Plan, Received, send
from bench.peers import Stages, Wirelab
from bench.peers.wirelab import LOG
from bench.process import FAILURES, FailedError
from bench.results import Answer, Target
from bench.setup import Setup

TARGETS_PERCENT = {10_000: 0.1, 100_000: 0.1, 1_000_000: 0.1, 10_000_000: 0.1, 100_000_000: 0.3}
DELAY_MS = 10.0
LOSS = 0.001
PAYLOAD = 1472
"""Packets of 1500 IP bytes."""
LEAST_PACKETS = 7
SECONDS = 3.0
PRESSURE = 1.5
"""Packets are sent this much faster than the rate, in one burst of as many seconds' worth as the next line says."""
AHEAD_S = 0.15
ATTEMPTS = 3
"""A sender that has to wait for its CPU lets the rate run idle, and then there is nothing to measure."""


@dataclass(frozen=True)
class Estimate:
    """A rate as a receiver sees it."""

    error_percent: float
    resolution_percent: float
    """By how much the estimate could be off because its two stamps are not exact: the spread of the departures (1 % to
    99 %) around an even rate, over the time."""
    seconds: float
    packets: int


def answer(setup: Setup) -> Answer:
    """Each rate, as the user who runs the bench."""
    found = Answer(
        "rate",
        "Rate at the receiver, with loss, rate and delay stages and the packet log on",
        ("rate/bit/s", "error/%", "resolution/%", "seconds", "packets"),
    )
    found.notes.append(
        "packets of 1500 IP bytes wait for the rate throughout; the rate is the bits behind the first packet over the "
        f"time from the first to the last; losses ({LOSS:.1%}) come before the rate, so that they take no time; "
        "resolution: by how much the stamps' own spread could move the estimate"
    )
    for rate_bps, target in TARGETS_PERCENT.items():
        measured = None
        for _ in range(ATTEMPTS):
            try:
                estimate = _measure(setup, rate_bps)
            except FAILURES as error:
                found.notes.append(f"{rate_bps} bit/s, an attempt without a figure: {error}")
                continue
            figures = (estimate.error_percent, estimate.resolution_percent, estimate.seconds, estimate.packets)
            found.rows.append((rate_bps, *figures))
            if estimate.resolution_percent <= target:
                measured = abs(estimate.error_percent)
            else:
                found.notes.append(
                    f"{rate_bps} bit/s: the resolution is coarser than the target, which so cannot be judged"
                )
            break
        found.targets.append(Target(f"{rate_bps} bit/s: |error|", "%", measured, "<=", target))
    return found


def estimate_rate(received: Received, rate_bps: int, ip_bytes: int) -> Estimate:
    """Of packets of one size that left back to back."""
    stamps = (received.received_ns - received.received_ns[0]) / 1e9
    bits = 8.0 * ip_bytes * np.arange(len(stamps))
    seconds = float(stamps[-1])
    measured = bits[-1] / seconds
    low, high = np.quantile(stamps - bits / measured, (0.01, 0.99))
    return Estimate(
        error_percent=float(100 * (measured / rate_bps - 1)),
        resolution_percent=float(100 * (high - low) / seconds),
        seconds=seconds,
        packets=len(stamps),
    )


def _measure(setup: Setup, rate_bps: int) -> Estimate:
    packet_s = 8 * (PAYLOAD + UDP_BYTES) / rate_bps
    packets = max(LEAST_PACKETS, round(setup.seconds(SECONDS) / packet_s))
    plan = Plan(
        packets=packets,
        interval_us=1e6 * packet_s / PRESSURE,
        spread=False,
        at_once=max(2, round(AHEAD_S / packet_s)),
        payload=PAYLOAD,
        drain_s=packets * packet_s * (1 - 1 / PRESSURE) + 1,
    )
    with setup.place(setup.users[0]) as place:
        received = send(setup.instruments, Wirelab(setup.agent), Stages(DELAY_MS, rate_bps, LOSS), plan, place)
        arrivals = _arrivals(setup.agent, place.folder / LOG, plan.ip_bytes)
    if len(received.number) != len(arrivals):
        raise FailedError(f"the link delivered {len(arrivals)} packets and the receiver saw {len(received.number)}")
    if idle := idle_times(arrivals, packet_s):
        raise FailedError(f"the rate ran idle {idle} times, for the sender was late")
    return estimate_rate(received, rate_bps, plan.ip_bytes)


def idle_times(arrivals_ns: Sequence[int], packet_s: float) -> int:
    """How often a rate that needs so long for each packet had none to send."""
    free_ns, idle = float(arrivals_ns[0]), 0
    for arrival_ns in arrivals_ns:
        idle += arrival_ns > free_ns
        free_ns = max(free_ns, arrival_ns) + 1e9 * packet_s
    return idle


def _arrivals(agent: Path, log: Path, ip_bytes: int) -> list[int]:
    """When the packets of this size came to the link that it says it put on the receiver's interface."""
    done = subprocess.run([str(agent), "dissect", str(log)], capture_output=True, check=True)
    rows = (json.loads(line) for line in done.stdout.splitlines())
    return [row["arrival_ns"] for row in rows if row["fate"] == "delivered" and row["size_bytes"] == ip_bytes]
