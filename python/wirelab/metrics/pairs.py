"""Pairs of a client and a server that were tried for real: what each trial's files say of its pair."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wirelab.metrics.base import CARRIED_OUT
from wirelab.schema import PubSub, Telemetry
from wirelab.schema.campaign import JOURNAL, RESULT, TRIALS, JournalEntry, read_journal, read_result
from wirelab.schema.plan import Plan, Scenario

SUBSCRIBED = "subscribed"
"""The connection of a subscriber: opened before anything is published."""
SUCCEEDED, FAILED, UNSUPPORTED, ABSENT = "succeeded", "failed", "unsupported", "not installed"


@dataclass(frozen=True)
class Cell:
    """The result of one client and one server."""

    protocol: str
    client: str
    server: str
    connection: str
    message_bytes: int
    result: str
    reason: str | None
    tried: bool = True
    """False where it was refused before anything was started."""
    server_end: str | None = None
    """What was wrong with how the server ended."""


def read_pairs(folder: Path, plan: Plan) -> list[Cell]:
    """What happened to each scenario's last trial."""
    from wirelab.metrics.exchange_rows import exchanges_of

    entries, _ = read_journal(folder / JOURNAL)
    last = {entry.scenario: entry for entry in entries}
    return [
        _cell(scenario, entry, exchanges_of(folder, entry.trial), folder / TRIALS / entry.trial / RESULT)
        for scenario in plan.scenarios
        for entry in [last[scenario.key]]
    ]


def _cell(scenario: Scenario, entry: JournalEntry, exchanges: Iterable[Mapping[str, Any]], outcome: Path) -> Cell:
    rows, workload = list(exchanges), scenario.workload
    assert isinstance(workload, Telemetry | PubSub), "the experiment of interop has these"
    connection = workload.connection.policy if isinstance(workload, Telemetry) else SUBSCRIBED
    bad = [row for row in rows if row["outcome"] not in CARRIED_OUT]
    if entry.status == "unsupported":
        result, reason = UNSUPPORTED, entry.error
    elif entry.status != "done":
        result, reason = (ABSENT if " is not installed; " in (entry.error or "") else FAILED), entry.error
    elif bad:
        result = UNSUPPORTED if all(row["outcome"] == "unsupported" for row in bad) else FAILED
        reason = bad[0]["error"] or bad[0]["outcome"]
    elif len(rows) != workload.rows:
        result, reason = FAILED, f"{len(rows)} exchanges of {workload.rows} were recorded"
    else:
        result, reason = SUCCEEDED, None
    ends = scenario.implementation
    cell = Cell(scenario.protocol, ends.client, ends.server, connection, workload.message_bytes, result, reason)
    return replace(cell, tried=outcome.exists(), server_end=_server_end(outcome))


def _server_end(outcome: Path) -> str | None:
    """What was wrong with it: it is to end by itself, or by the signal, when it is sent SIGTERM."""
    if not outcome.exists():
        return None
    server = next((each for each in read_result(outcome).endpoints if each.name == "server"), None)
    if server is None:
        return "it has no result"
    if server.signal == signal.SIGKILL:
        return "it had to be killed"
    if server.exit_code == 0 or server.signal == signal.SIGTERM:
        return None
    return f"exit code {server.exit_code}, signal {server.signal}"
