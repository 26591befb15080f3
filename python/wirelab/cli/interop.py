"""`wirelab interop`: which client talks to which server, tried for real."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wirelab.cli.campaigns import RESULTS
from wirelab.cli.table import columns

if TYPE_CHECKING:
    from wirelab.plan import Plan, Scenario

SUCCEEDED, FAILED, UNSUPPORTED, ABSENT = "succeeded", "failed", "unsupported", "not installed"
_MARKS = {SUCCEEDED: "ok", FAILED: "FAILED", UNSUPPORTED: "unsupported", ABSENT: "not installed"}


@dataclass(frozen=True)
class Cell:
    """What came of one client, one server, one stack and one connection policy."""

    stack: str
    client: str
    server: str
    connection: str
    result: str
    reason: str | None


@click.command("interop", short_help="Try every client with every server of each stack.")
@click.option("--stack", "stacks", multiple=True, metavar="NAME", help="Only this stack (may be given again).")
@click.option("--client", "clients", multiple=True, metavar="NAME", help="Only this client.")
@click.option("--server", "servers", multiple=True, metavar="NAME", help="Only this server.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="[results/interop]")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(
    stacks: tuple[str, ...], clients: tuple[str, ...], servers: tuple[str, ...], out: Path | None, *, as_json: bool
) -> int:
    """Try every client with every server of each stack, over fresh and over kept connections, and print the matrix.

    Implementations are ours and those of implementations.toml, the shipped one and the one in this folder. A program
    that is not installed is said to be so; what a program does not do is unsupported. Exits with 1 if anything failed.
    """
    from rich.console import Console

    from wirelab.experiment.interop import NAME, interop_experiment
    from wirelab.plan import make_plan

    beside = Path.cwd()
    plan = make_plan(interop_experiment(beside, stacks=stacks, clients=clients, servers=servers))
    folder = out if out is not None else RESULTS / NAME
    _run(plan, folder, beside, Console(stderr=True, highlight=False))
    cells = _cells(folder, plan)
    if as_json:
        click.echo(json.dumps([vars(cell) for cell in cells], indent=1))
    else:
        click.echo("\n\n".join(_matrices(cells)))
        for line in _reasons(cells):
            click.echo(line)
    return 1 if any(cell.result == FAILED for cell in cells) else 0


def _run(plan: Plan, folder: Path, beside: Path, console: Any) -> None:
    from wirelab.cli.progress import LiveProgress
    from wirelab.cli.terminate import terminated_as_interrupted
    from wirelab.runner.start import Options, run_plan

    options = Options(fresh=True, beside=beside, command=("wirelab", "interop"))
    console.print(f"{len(plan.scenarios)} pairs of client and server, each with three exchanges")
    with terminated_as_interrupted(), LiveProgress(console) as progress:
        run_plan(plan, folder, options, None, progress)


def _cells(folder: Path, plan: Plan) -> list[Cell]:
    from wirelab.metrics.dataset import exchanges_of
    from wirelab.schema.campaign import JOURNAL, read_journal

    entries, _ = read_journal(folder / JOURNAL)
    last = {entry.scenario: entry for entry in entries}
    return [
        _cell(scenario, last[scenario.key], exchanges_of(folder, last[scenario.key].trial))
        for scenario in plan.scenarios
    ]


def _cell(scenario: Scenario, entry: Any, exchanges: Iterable[Mapping[str, Any]]) -> Cell:
    from wirelab.schema import Deliver

    rows, workload = list(exchanges), scenario.workload
    assert isinstance(workload, Deliver), "the experiment of interop delivers"
    bad = [row for row in rows if row["outcome"] != "completed"]
    if entry.status == "unsupported":
        result, reason = UNSUPPORTED, entry.error
    elif entry.status != "done":
        result, reason = (ABSENT if "not installed" in (entry.error or "") else FAILED), entry.error
    elif bad:
        result = UNSUPPORTED if all(row["outcome"] == "unsupported" for row in bad) else FAILED
        reason = bad[0]["error"] or bad[0]["outcome"]
    elif len(rows) != workload.rows:
        result, reason = FAILED, f"{len(rows)} exchanges of {workload.rows} were recorded"
    else:
        result, reason = SUCCEEDED, None
    ends = scenario.implementation
    return Cell(scenario.stack, ends.client, ends.server, workload.connection.policy, result, reason)


def _matrices(cells: list[Cell]) -> Iterable[str]:
    """A matrix for each stack: clients down, servers across."""
    for stack in dict.fromkeys(cell.stack for cell in cells):
        of = [cell for cell in cells if cell.stack == stack]
        servers = list(dict.fromkeys(cell.server for cell in of))
        clients = dict.fromkeys(cell.client for cell in of)
        rows = [
            [
                client,
                *(_mark([each for each in of if (each.client, each.server) == (client, server)]) for server in servers),
            ]
            for client in clients
        ]
        yield columns([[stack, *servers], *rows])


def _mark(cells: list[Cell]) -> str:
    """One word for both connection policies if they agree."""
    results = {cell.connection: _MARKS[cell.result] for cell in cells}
    if len(set(results.values())) == 1:
        return next(iter(results.values()))
    return ", ".join(f"{connection} {mark}" for connection, mark in results.items())


def _reasons(cells: list[Cell]) -> Iterable[str]:
    told = dict.fromkeys(
        f"{cell.stack}, {cell.client} to {cell.server}, {cell.connection}: {cell.result}: {cell.reason}"
        for cell in cells
        if cell.result == FAILED
    )
    told |= dict.fromkeys(f"{cell.result}: {cell.reason}" for cell in cells if cell.result in {ABSENT, UNSUPPORTED})
    counts = {result: sum(cell.result == result for cell in cells) for result in _MARKS}
    yield ""
    yield ", ".join(f"{count} {result}" for result, count in counts.items() if count)
    yield from told
