"""The misbehaving programs as implementations, and what the runs of each role show of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SEEN = FOLDER / "seen.json"
"""What a run showed of each program, and why some are not seen: a table of docs/reference/confirmed.md."""
PROTOCOLS = FOLDER / "protocols.json"
"""What a run showed of programs that speak no protocol, in each protocol and role: another."""
Rows = list[dict[str, Any]]


def read(path: Path) -> Rows:
    """The rows of a table."""
    rows: Rows = json.loads(path.read_text(encoding="utf-8"))
    return rows


def write(path: Path, rows: Rows) -> None:
    """A table with a line for each row."""
    path.write_text("[\n" + ",\n".join(f" {json.dumps(row)}" for row in rows) + "\n]\n", encoding="utf-8")


def of(role: str) -> Rows:
    """The programs of a role with what a run showed of them."""
    return [row for row in read(SEEN) if row["role"] == role]


def name(row: dict[str, Any]) -> str:
    """Its name as an implementation."""
    return f"{row['protocol']}-{row['program']}"


def side(role: str) -> str:
    """Whether a role is the client's or the server's."""
    return "client" if role.startswith(("client", "subscriber")) else "server"


def entries(role: str) -> str:
    """`implementations.toml` of a role's programs."""
    once = role == "client, once for each exchange"
    return "\n".join(entry(name(row), side(role), [row["protocol"]], row["command"], once=once) for row in of(role))


def entry(name: str, side: str, protocols: list[str], command: list[str], *, once: bool = False) -> str:
    """One program: `command` names its file here, and its arguments."""
    words = [sys.executable, str(FOLDER / command[0]), *command[1:]]
    field, words = ("per_exchange", words) if once else ("command", [*words, "{{ parameters }}"])
    ready = '\nready = "event"' if side == "server" else ""
    workloads = ["request-response", "telemetry", "pubsub"] if side == "server" or not once else ["telemetry"]
    return f"""
[{name}]
title = "A {side} that does: {name}"
about = "It is for tests."
homepage = "https://example.org"
install = "it is here"
version_command = ["{sys.executable}", "--version"]
[{name}.roles.{side}]
protocols = {json.dumps(protocols)}
workloads = {json.dumps(workloads)}
connections = ["new"]
{field} = {json.dumps(words)}{ready}
"""
