"""`wirelab check-implementation`: the endpoint contract, tried on one program."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from wirelab.cli.pairs import SUCCEEDED, Cell, try_pairs
from wirelab.cli.pairs import UNSUPPORTED as UNSUPPORTED_RESULT
from wirelab.errors import WirelabError, did_you_mean

if TYPE_CHECKING:
    from wirelab.experiment.implementations import ClientEntry, Implementation

MESSAGES = ("1 B", "30 B", "20 kB")
UNSUPPORTED = 3
REFUSAL_TIMEOUT_S = 20


class Check(NamedTuple):
    """One thing that the contract asks for."""

    ok: bool
    what: str
    why: str | None


@click.command("check-implementation", short_help="Try a program of implementations.toml on the endpoint contract.")
@click.argument("name")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Keep what was tried.")
def command(name: str, keep: Path | None) -> int:
    """Try on one program all that docs/contract.md asks of an endpoint.

    NAME is one of the shipped implementations, or of the implementations.toml in this folder. It delivers messages of
    three sizes over fresh and over kept connections, with our endpoint as its peer, or with itself where the stack is
    its own; a program that performs the whole workload is also given parameters that it must refuse. Exits with 1 if
    anything fails.
    """
    from wirelab.runner.implementations import load, missing

    programs = load(Path.cwd())
    if name not in programs:
        raise WirelabError(f"unknown implementation '{name}'", hint=did_you_mean(name, programs))
    program = programs[name]
    if (why := missing(program)) is not None:
        raise WirelabError(why)
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise WirelabError(f"{keep} is not empty", hint="choose another folder")
    with tempfile.TemporaryDirectory(prefix="wirelab-check-") as temporary:
        folder = keep if keep is not None else Path(temporary)
        checks = [*_deliveries(name, program, folder / "campaign"), *_refusals(program, folder / "refusals")]
    for check in checks:
        click.echo(f"{'ok  ' if check.ok else 'no  '}{check.what}{f': {check.why}' if check.why else ''}")
    if not checks:
        raise WirelabError(
            f"{name} plays no role that can be tried", hint="it needs a client and a server of its stack"
        )
    failed = sum(not check.ok for check in checks)
    click.echo(f"{len(checks)} checks, {failed} failed")
    return 1 if failed else 0


def _deliveries(name: str, program: Implementation, folder: Path) -> Iterable[Check]:
    from wirelab.experiment.interop import Only, interop_experiment
    from wirelab.experiment.library import BUILTIN
    from wirelab.experiment.own_stacks import own_stacks

    own = {stack.name for stack in own_stacks(Path.cwd())}
    roles = {"client": program.roles.client, "server": program.roles.server}
    cells: list[Cell] = []
    for role, entry in roles.items():
        for number, stack in enumerate(entry.stacks if entry else ()):
            peer = name if stack in own else BUILTIN
            ends = {"client": name, "server": peer} if role == "client" else {"client": peer, "server": name}
            if stack in own and role == "server":
                continue
            experiment = interop_experiment(
                Path.cwd(), Only([stack], [ends["client"]], [ends["server"]]), messages=MESSAGES
            )
            cells += try_pairs(experiment, folder / f"{role}-{number}", Path.cwd())
    for cell in cells:
        what = f"{cell.stack}, {cell.client} to {cell.server}: {cell.message_bytes} B, {cell.connection} connections"
        entry = roles["client"] if cell.client == name else roles["server"]
        excluded = entry is not None and cell.connection not in entry.connections
        # What a program declares that it does, it must do.
        ok = cell.result == SUCCEEDED or (cell.result == UNSUPPORTED_RESULT and excluded)
        yield Check(ok, what, None if cell.result == SUCCEEDED else cell.reason)


def _refusals(program: Implementation, folder: Path) -> Iterable[Check]:
    """Only a client that performs the whole workload reads parameters itself."""
    entry = program.roles.client
    if entry is None or not entry.command:
        return
    for what in ("stack", "workload"):
        unknown = f"no-such-{what}"
        changed: dict[str, Any] = {what: unknown if what == "stack" else {"kind": unknown}}
        yield _refusal(entry, folder / what, changed, f"a {what} that it does not do")


def _refusal(entry: ClientEntry, folder: Path, changed: dict[str, Any], what: str) -> Check:
    folder.mkdir(parents=True)
    parameters = {
        "schema_version": 1, "stack": entry.stacks[0], "role": "client", "settings": {}, "certificates": None,
        "server": {"address": "127.0.0.1", "port": 9, "name": "server.test"}, "output": str(folder), "seed": 1,
        "workload": {
            "kind": "deliver", "message_bytes": 1, "exchanges": 1, "arrival": {"process": "closed"}, "concurrency": 1,
            "timeout_ns": 10**9, "connection": {"policy": "fresh"},
        },
        **changed,
    }  # fmt: skip
    path = folder / "parameters.json"
    path.write_text(json.dumps(parameters), encoding="utf-8")
    known = {"parameters": str(path), "directory": str(folder)}
    command = entry.fill(entry.command, known, {})
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=REFUSAL_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(False, f"refuses {what} with exit code {UNSUPPORTED}", str(error))
    wrong = None if done.returncode == UNSUPPORTED else f"exit code {done.returncode}"
    return Check(wrong is None, f"refuses {what} with exit code {UNSUPPORTED}", wrong)
