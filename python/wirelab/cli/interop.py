"""`wirelab interop`: tests which client works with which server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wirelab.cli.arguments import clock_option
from wirelab.cli.campaigns import RESULTS
from wirelab.cli.text import columns
from wirelab.metrics.pairs import ABSENT, FAILED, SUCCEEDED, UNSUPPORTED, Cell

if TYPE_CHECKING:
    from wirelab.experiment.experiment import Experiment
    from wirelab.schema.plan import Plan

_MARKS = {SUCCEEDED: "ok", FAILED: "FAILED", UNSUPPORTED: "unsupported", ABSENT: "not installed"}


@click.command("interop", short_help="Try every client with every server of each protocol.")
@click.option("--protocol", "protocols", multiple=True, metavar="NAME", help="Only this protocol. May be repeated.")
@click.option("--client", "clients", multiple=True, metavar="NAME", help="Only this client. May be repeated.")
@click.option("--server", "servers", multiple=True, metavar="NAME", help="Only this server. May be repeated.")
@click.option(
    "--workload", type=click.Choice(("telemetry", "pubsub")), default="telemetry", help="What they do.  [telemetry]"
)
@clock_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder for all records.  [results/interop]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(workload: str, clock: str | None, out: Path | None, *, as_json: bool, **only: tuple[str, ...]) -> int:
    """Try every client with every server of each protocol, and print the matrix.

    Each client sends three messages over new connections and three over one persistent connection. With --workload
    pubsub, two subscribers receive three messages instead. Implementations are Wirelab's own, the shipped third-party
    ones, and those of implementations.toml in this folder. Results are ok, FAILED, unsupported (the program does not
    do this) and not installed. Exits with 1 if anything failed.
    """
    from wirelab.experiment.interop import NAME, Only, interop_experiment
    from wirelab.link_facts import asking

    beside = Path.cwd()
    with asking() as ask:
        experiment = interop_experiment(beside, Only(**only), ask, workload=workload, clock=clock)
    cells = try_pairs(experiment, out if out is not None else RESULTS / NAME, beside)
    if as_json:
        click.echo(json.dumps([vars(cell) for cell in cells], indent=1))
    else:
        click.echo("\n\n".join(_matrices(cells)))
        for line in _reasons(cells):
            click.echo(line)
    return 1 if any(cell.result == FAILED for cell in cells) else 0


def try_pairs(experiment: Experiment, folder: Path, beside: Path) -> list[Cell]:
    """Run every scenario of such an experiment once, in a campaign of its own, and say what the result of each is.

    A campaign of the same experiment that is there from the last time is removed: its trials say nothing that these
    do not. Another campaign is archived, as always.
    """
    from rich.console import Console

    from wirelab.metrics.pairs import read_pairs
    from wirelab.plan import make_plan
    from wirelab.runner.last import remove_last
    from wirelab.runner.start import require_clock

    require_clock(experiment.clock)
    plan = make_plan(experiment)
    remove_last(folder, plan)
    _run(plan, folder, beside, Console(stderr=True, highlight=False))
    return read_pairs(folder, plan)


def _run(plan: Plan, folder: Path, beside: Path, console: Any) -> None:
    from wirelab.cli.progress import LiveProgress
    from wirelab.cli.terminate import terminated_as_interrupted
    from wirelab.runner.start import Options, run_plan

    options = Options(fresh=True, beside=beside, command=("wirelab", *sys.argv[1:]))
    console.print(f"{len(plan.scenarios)} pairs of client and server, each with three messages")
    with terminated_as_interrupted() as check, LiveProgress(console, check) as progress:
        run_plan(plan, folder, options, None, progress)


def _matrices(cells: list[Cell]) -> Iterable[str]:
    """A matrix for each protocol: clients as rows, servers as columns."""
    for protocol in dict.fromkeys(cell.protocol for cell in cells):
        of = [cell for cell in cells if cell.protocol == protocol]
        servers = list(dict.fromkeys(cell.server for cell in of))
        clients = dict.fromkeys(cell.client for cell in of)
        rows = [
            [
                client,
                *(_mark([each for each in of if (each.client, each.server) == (client, server)]) for server in servers),
            ]
            for client in clients
        ]
        yield columns([[protocol, *servers], *rows])


def _mark(cells: list[Cell]) -> str:
    """One word for both connection policies if they agree."""
    results = {cell.connection: _MARKS[cell.result] for cell in cells}
    if len(set(results.values())) == 1:
        return next(iter(results.values()))
    return ", ".join(f"{connection} {mark}" for connection, mark in results.items())


def _reasons(cells: list[Cell]) -> Iterable[str]:
    lines = dict.fromkeys(
        f"{cell.protocol}, {cell.client} to {cell.server}, {cell.connection}: {cell.result}: {cell.reason}"
        for cell in cells
        if cell.result == FAILED
    )
    lines |= dict.fromkeys(f"{cell.result}: {cell.reason}" for cell in cells if cell.result in {ABSENT, UNSUPPORTED})
    counts = {result: sum(cell.result == result for cell in cells) for result in _MARKS}
    yield ""
    yield ", ".join(f"{count} {result}" for result, count in counts.items() if count)
    yield from lines
