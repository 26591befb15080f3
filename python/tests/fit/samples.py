"""Measurements as the tools write them, made from known links."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Fates = NDArray[np.bool_]


def gilbert_elliott(
    seeds: Iterable[int], n: int, *, p: float, r: float, bad_loss: float = 1.0, good_loss: float = 0.0
) -> list[Fates]:
    """Losses by netem's convention, one sequence for each seed: the state before the transition decides the outcome."""
    draws = np.stack([np.random.default_rng(seed).random((n + 1, 2)) for seed in seeds])
    bad = draws[:, 0, 0] < p / (p + r)
    lost = np.empty((*draws.shape[:1], n), dtype=np.bool_)
    for step in range(n):
        lost[:, step] = draws[:, step + 1, 0] < np.where(bad, bad_loss, good_loss)
        bad ^= draws[:, step + 1, 1] < np.where(bad, r, p)
    return list(lost)


def round_trips_ms(seed: int, n: int, least: float = 20.0) -> NDArray[np.float64]:
    """Skewed round trips to the microsecond, as a ping prints them."""
    return np.round(least + np.random.default_rng(seed).gamma(1.5, 4.0, n), 3)


def iputils(rtts_ms: Sequence[float], lost: Fates, *, stamped: bool = False, summary: bool = True) -> str:
    """`ping -i 0.2`, with `-D` if stamped."""
    lines = ["PING example.org (192.0.2.1) 56(84) bytes of data."]
    for index, (rtt, gone) in enumerate(zip(rtts_ms, lost, strict=True)):
        stamp = f"[{1_700_000_000 + 0.2 * index + rtt / 1000:.6f}] " if stamped else ""
        if not gone:
            lines.append(
                f"{stamp}64 bytes from example.org (192.0.2.1): icmp_seq={(index + 1) % 65536} ttl=57 time={rtt:.3f} ms"
            )
    if summary:
        received = int((~lost).sum())
        lines += [
            "",
            "--- example.org ping statistics ---",
            f"{len(lost)} packets transmitted, {received} received, "
            f"{100 * (1 - received / len(lost)):g}% packet loss, time {200 * (len(lost) - 1)}ms",
            "rtt min/avg/max/mdev = 20.001/25.002/60.003/4.004 ms",
        ]
    return "\n".join(lines) + "\n"


def busybox(rtts_ms: Sequence[float], lost: Fates) -> str:
    """BusyBox's ping."""
    lines = ["PING 192.0.2.1 (192.0.2.1): 56 data bytes"]
    for index, (rtt, gone) in enumerate(zip(rtts_ms, lost, strict=True)):
        if not gone:
            lines.append(f"64 bytes from 192.0.2.1: seq={index} ttl=57 time={rtt:.3f} ms")
    received = int((~lost).sum())
    gone = 100 - 100 * received // len(lost)
    lines += [
        "",
        "--- 192.0.2.1 ping statistics ---",
        f"{len(lost)} packets transmitted, {received} packets received, {gone}% packet loss",
        "round-trip min/avg/max = 20.001/25.002/60.003 ms",
    ]
    return "\n".join(lines) + "\n"


def irtt(
    up_ns: Sequence[int], down_ns: Sequence[int], lost: Sequence[str], *, offset_ns: int = 0, drift_ns: int = 0
) -> dict[str, Any]:
    """A result of irtt; the server's clock is ahead by an offset that grows by `drift_ns` until the last."""
    trips = []
    for index, (up, down, fate) in enumerate(zip(up_ns, down_ns, lost, strict=True)):
        ahead = offset_ns + drift_ns * index // len(lost)
        delay = (
            {"receive": int(down) - ahead, "rtt": int(up + down), "send": int(up) + ahead} if fate == "false" else {}
        )
        trips.append({"seqno": index, "lost": fate, "timestamps": {"late": False}, "delay": delay, "ipdv": {}})
    return {
        "version": {"irtt": "0.9.1", "protocol": 1, "json_format": 1},
        "system_info": {"os": "linux"},
        "config": {"params": {"interval": 20_000_000, "length": 172}},
        "stats": {"duplicates": 0},
        "round_trips": trips,
    }


def as_json(value: object) -> str:
    return json.dumps(value, indent=1)


class Capture:
    """Rows of `wirelab-agent capture`, written as a dialogue; times in ms."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._seen: set[tuple[bool, int]] = set()

    def client(self, at: float, flags: str, sequence: int, acknowledgement: int | None, payload: int = 0) -> None:
        """A segment from the client."""
        self._row(True, at, flags, (sequence, acknowledgement), payload)

    def server(self, at: float, flags: str, sequence: int, acknowledgement: int | None, payload: int = 0) -> None:
        """A segment from the server."""
        self._row(False, at, flags, (sequence, acknowledgement), payload)

    def _row(self, uplink: bool, at: float, flags: str, numbers: tuple[int, int | None], payload: int) -> None:
        sends = payload or "S" in flags or "F" in flags
        self.rows.append(
            {
                "at_ns": round(at * 1e6),
                "flow": 0,
                "uplink": uplink,
                "size_bytes": 40 + payload,
                "transport": "tcp",
                "payload_bytes": payload,
                "tcp_flags": flags,
                "tcp_sequence": numbers[0],
                "tcp_acknowledgement": numbers[1],
                "retransmission": bool(sends) and (uplink, numbers[0]) in self._seen,
            }
        )
        if sends:
            self._seen.add((uplink, numbers[0]))
