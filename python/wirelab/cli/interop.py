"""`wirelab interop`: which client talks to which server, tried for real."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click

from wirelab.cli.campaigns import RESULTS
from wirelab.cli.pairs import ABSENT, FAILED, SUCCEEDED, UNSUPPORTED, Cell, try_pairs
from wirelab.cli.text import columns

_MARKS = {SUCCEEDED: "ok", FAILED: "FAILED", UNSUPPORTED: "unsupported", ABSENT: "not installed"}


@click.command("interop", short_help="Try every client with every server of each protocol.")
@click.option("--protocol", "protocols", multiple=True, metavar="NAME", help="Only this protocol (may be given again).")
@click.option("--client", "clients", multiple=True, metavar="NAME", help="Only this client.")
@click.option("--server", "servers", multiple=True, metavar="NAME", help="Only this server.")
@click.option("--workload", type=click.Choice(("telemetry", "pubsub")), default="telemetry", help="[telemetry]")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="[results/interop]")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(workload: str, out: Path | None, *, as_json: bool, **only: tuple[str, ...]) -> int:
    """Try every client with every server of each protocol, and print the matrix.

    They deliver over new and over persistent connections, or (--workload pubsub) two subscribers receive changes.
    Implementations are ours and those of implementations.toml, the shipped one and the one in this folder. A program
    that is not installed is said to be so; what a program does not do is unsupported. Exits with 1 if anything failed.
    """
    from wirelab.experiment.interop import NAME, Only, interop_experiment
    from wirelab.link_facts import asking

    beside = Path.cwd()
    with asking() as ask:
        experiment = interop_experiment(beside, Only(**only), ask, workload=workload)
    cells = try_pairs(experiment, out if out is not None else RESULTS / NAME, beside)
    if as_json:
        click.echo(json.dumps([vars(cell) for cell in cells], indent=1))
    else:
        click.echo("\n\n".join(_matrices(cells)))
        for line in _reasons(cells):
            click.echo(line)
    return 1 if any(cell.result == FAILED for cell in cells) else 0


def _matrices(cells: list[Cell]) -> Iterable[str]:
    """A matrix for each protocol: clients down, servers across."""
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
