"""The misbehaving programs as implementations, and what the runs of each role show of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SEEN = FOLDER / "seen.json"
"""What a run showed of each program, and why some are not seen: the table of docs/reference/confirmed.md."""


def seen() -> list[dict[str, Any]]:
    """The programs with what a run showed of them."""
    rows: list[dict[str, Any]] = json.loads(SEEN.read_text(encoding="utf-8"))
    return rows


def names(role: str) -> list[str]:
    """The programs of a role."""
    return [row["program"] for row in seen() if row["role"] == role]


def entries(role: str) -> str:
    """Their `implementations.toml`."""
    return "\n".join(_entry(role, name) for name in names(role))


def _entry(role: str, name: str) -> str:
    side = "server" if role == "server" else "client"
    workloads = {"server": '["request-response"]', "subscriber": '["pubsub"]'}.get(role, '["telemetry"]')
    file = {"client": "client.py", "client, once for each exchange": "curl.py"}.get(role, f"{role}.py")
    command = [sys.executable, str(FOLDER / file)]
    match role:
        case "subscriber":
            field, command = "command", [*command, "{{ parameters }}"]
        case "client, once for each exchange":
            field, command = "per_exchange", [*command, name]
        case _:
            field, command = "command", [*command, name, "{{ parameters }}"]
    ready = '\nready = "event"' if side == "server" else ""
    return f"""
[{name}]
title = "A {side} that does: {name}"
about = "It is for tests."
homepage = "https://example.org"
install = "it is here"
version_command = ["{sys.executable}", "--version"]
[{name}.roles.{side}]
protocols = ["http1"]
workloads = {workloads}
connections = ["new"]
{field} = {json.dumps(command)}{ready}
"""
