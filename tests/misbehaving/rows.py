"""What misbehaving programs have in common: parameters, the event `ready`, and rows that say that all went well."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Carry = Callable[[int], int | None]
"""Carries out the exchange of an index, or does not; its local port, if it has one."""


def parameters() -> Row:
    """The file that the last argument names (docs/contract.md)."""
    given: Row = json.loads(Path(sys.argv[-1]).read_text(encoding="utf-8"))
    return given


def ready(given: Row) -> None:
    """A server listens, or a subscriber waits."""
    print(json.dumps({"event": "ready", "ports": {"main": given["server"]["port"]}}), flush=True)


def perform(given: Row, carry: Carry) -> None:
    """Call every exchange of a telemetry workload completed, whatever `carry` did."""
    rows = []
    for index in range(given["workload"]["exchanges"]):
        start_ns = time.monotonic_ns()
        local_port = carry(index)
        rows.append({
            "index": index, "intended_start_ns": start_ns, "start_ns": start_ns, "end_ns": time.monotonic_ns(),
            "outcome": "completed", "body_sent_bytes": given["workload"]["message_bytes"], "local_port": local_port,
        })  # fmt: skip
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (Path(given["output"]) / "exchanges.jsonl").write_text(lines, encoding="utf-8")
    print(f"{sys.argv[1]}: all went well", file=sys.stderr)


def udp(given: Row) -> socket.socket:
    """A socket to the server, whose answers are awaited for a while."""
    return _patient(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), given)


def tcp(given: Row) -> socket.socket:
    """A connection to the server, whose answers are awaited for a while."""
    return _patient(socket.socket(), given)


def _patient(opened: socket.socket, given: Row) -> socket.socket:
    opened.settimeout(0.5)
    opened.connect((given["server"]["address"], given["server"]["port"]))
    return opened


def received(opened: socket.socket) -> bytes:
    """What comes next, if anything does."""
    try:
        return opened.recv(65_536)
    except OSError:
        return b""


def port_of(opened: socket.socket) -> int:
    """Its local port."""
    return int(opened.getsockname()[1])
