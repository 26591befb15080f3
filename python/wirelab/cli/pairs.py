"""Pairs of a client and a server, tried for real: what `interop` and `check-implementation` share."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wirelab.experiment.experiment import Experiment
    from wirelab.schema.plan import Plan, Scenario

SUBSCRIBED = "subscribed"
"""The connection of who waits: opened before anything is published."""
SUCCEEDED, FAILED, UNSUPPORTED, ABSENT = "succeeded", "failed", "unsupported", "not installed"


@dataclass(frozen=True)
class Cell:
    """What came of one client and one server."""

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


def try_pairs(experiment: Experiment, folder: Path, beside: Path) -> list[Cell]:
    """Run every scenario of such an experiment once, in a campaign of its own, and say what came of each.

    A campaign of the same experiment that is there from the last time is removed: its trials say nothing that these
    do not. Another campaign is set aside, as always.
    """
    from rich.console import Console

    from wirelab.plan import make_plan

    plan = make_plan(experiment)
    _remove_last(folder, plan)
    _run(plan, folder, beside, Console(stderr=True, highlight=False))
    return _cells(folder, plan)


def _remove_last(folder: Path, plan: Plan) -> None:
    from wirelab.errors import RunError
    from wirelab.runner.lock import locked
    from wirelab.schema.campaign import PLAN, read_plan

    try:
        name = read_plan(folder).experiment.name if (folder / PLAN).is_file() else None
    except RunError:  # of another build: it is set aside
        return
    if name == plan.experiment.name:
        with locked(folder):
            shutil.rmtree(folder)


def _run(plan: Plan, folder: Path, beside: Path, console: Any) -> None:
    from wirelab.cli.progress import LiveProgress
    from wirelab.cli.terminate import terminated_as_interrupted
    from wirelab.runner.start import Options, run_plan

    options = Options(fresh=True, beside=beside, command=("wirelab", *sys.argv[1:]))
    console.print(f"{len(plan.scenarios)} pairs of client and server, each with three messages")
    with terminated_as_interrupted() as check, LiveProgress(console, check) as progress:
        run_plan(plan, folder, options, None, progress)


def _cells(folder: Path, plan: Plan) -> list[Cell]:
    from wirelab.metrics.dataset import exchanges_of
    from wirelab.schema.campaign import JOURNAL, RESULT, TRIALS, read_journal

    entries, _ = read_journal(folder / JOURNAL)
    last = {entry.scenario: entry for entry in entries}
    return [
        _cell(scenario, entry, exchanges_of(folder, entry.trial), folder / TRIALS / entry.trial / RESULT)
        for scenario in plan.scenarios
        for entry in [last[scenario.key]]
    ]


def _cell(scenario: Scenario, entry: Any, exchanges: Iterable[Mapping[str, Any]], outcome: Path) -> Cell:
    from wirelab.schema import PubSub, Telemetry

    rows, workload = list(exchanges), scenario.workload
    assert isinstance(workload, Telemetry | PubSub), "the experiment of interop has these"
    connection = workload.connection.policy if isinstance(workload, Telemetry) else SUBSCRIBED
    bad = [row for row in rows if row["outcome"] != "completed"]
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
    endpoints = json.loads(outcome.read_text(encoding="utf-8"))["endpoints"]
    [server] = [each for each in endpoints if each["name"] == "server"] or [{}]
    if server.get("signal") == signal.SIGKILL:
        return "it had to be killed"
    if server.get("exit_code") == 0 or server.get("signal") == signal.SIGTERM:
        return None
    return f"exit code {server.get('exit_code')}, signal {server.get('signal')}"
