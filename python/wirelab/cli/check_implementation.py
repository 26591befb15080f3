"""`wirelab check-implementation`: test one program against the endpoint contract."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from wirelab.cli.arguments import clock_option
from wirelab.cli.interop import try_pairs
from wirelab.errors import WirelabError, did_you_mean
from wirelab.launcher import launched
from wirelab.metrics.pairs import SUCCEEDED, UNSUPPORTED, Cell
from wirelab.schema import Role

if TYPE_CHECKING:
    from wirelab.experiment.programs.implementations import ClientEntry, Implementation

MESSAGES = {"telemetry": ("1 B", "30 B", "20 kB"), "pubsub": ("30 B", "20 kB")}
OK, NO = "ok", "no"
REFUSED = 3
"""The exit code for unsupported work."""
REFUSAL_TIMEOUT_S = 20
"""Of the clock by which it is tried."""
_TIMED_OUT = 124
"""The exit code of `timeout`."""
Run = Callable[[list[str], Path], int | None]
"""Runs a command in a folder; gives its exit code, or none if it did not end in time."""


class Check(NamedTuple):
    """One requirement of the contract: `OK`, `NO`, or `UNSUPPORTED` if the program's entry does not declare it."""

    result: str
    what: str
    why: str | None


@click.command("check-implementation", short_help="Try a program of implementations.toml on the endpoint contract.")
@click.argument("name")
@clock_option
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder for the records of the tests.",
)
def command(name: str, clock: str | None, keep: Path | None) -> int:
    """Test one program against the endpoint contract (docs/contract.md).

    NAME is one of the shipped implementations, or of the implementations.toml in this folder. It exchanges messages of
    three sizes over new and over persistent connections, and publishes or subscribes if its entry says so. The peer is
    our endpoint; for a user-defined protocol the program itself, or a program with the other role. A server must end on
    SIGTERM, and a program that performs the whole workload must refuse unknown parameters. Exits with 1 if anything
    fails; work that its entry does not declare is unsupported.
    """
    from wirelab.runner.implementations import load, missing

    programs = load(Path.cwd())
    if name not in programs:
        raise WirelabError(
            f"unknown implementation '{name}'", hint=did_you_mean(name, programs, launched("list implementations"))
        )
    program = programs[name]
    if (why := missing(program)) is not None:
        raise WirelabError(why)
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise WirelabError(f"{keep} is not empty", hint="choose another folder")
    with tempfile.TemporaryDirectory(prefix="wirelab-check-") as temporary:
        folder = (keep if keep is not None else Path(temporary)).resolve()
        run = _in_guest if clock == "virtual" else _on_this_machine
        checks = [*_messages(name, programs, folder / "campaign", clock), *_refusals(program, folder / "refusals", run)]
    for check in checks:
        click.echo(f"{check.result}  {check.what}{f': {check.why}' if check.why else ''}")
    if not checks:
        raise WirelabError(
            f"{name} has no role that can be tested", hint="it needs a client and a server of its protocol"
        )
    failed, unsupported = (sum(check.result == result for check in checks) for result in (NO, UNSUPPORTED))
    click.echo(f"{len(checks)} checks, {failed} failed{f', {unsupported} unsupported' if unsupported else ''}")
    return 1 if failed else 0


def _messages(name: str, programs: Mapping[str, Implementation], folder: Path, clock: str | None) -> Iterable[Check]:
    from wirelab.experiment.interop import WORKLOADS, Only, interop_experiment
    from wirelab.link_facts import asking

    served: dict[str, list[Cell]] = {}
    for number, (role, protocol, peer) in enumerate(_pairs(name, programs)):
        client, server = (name, peer) if role is Role.CLIENT else (peer, name)
        entry = programs[name].role(role)
        for workload in WORKLOADS:
            if entry is None or not {workload} <= {*entry.workloads}:
                continue
            only = Only([protocol], [client], [server])
            with asking() as ask:
                experiment = interop_experiment(
                    Path.cwd(), only, ask, messages=MESSAGES[workload], workload=workload, clock=clock
                )
            cells = try_pairs(experiment, folder / f"{number}-{workload}", Path.cwd())
            yield from (_message(cell) for cell in cells)
            if server == name:
                served.setdefault(protocol, []).extend(cell for cell in cells if cell.tried)
    for protocol, cells in served.items():
        wrong = next((cell.server_end for cell in cells if cell.server_end is not None), None)
        if cells:
            yield Check(NO if wrong else OK, f"{protocol}, {name}: the server ends within 2 s of SIGTERM", wrong)


def _pairs(name: str, programs: Mapping[str, Implementation]) -> Iterable[tuple[Role, str, str]]:
    """Role, protocol and peer: our endpoint; for a user-defined protocol the program itself, or one with the other
    role.
    """
    from wirelab.experiment.library import BUILTIN
    from wirelab.experiment.programs.own_protocols import own_protocols

    own = {protocol.name for protocol in own_protocols(Path.cwd())}
    for role, other in ((Role.CLIENT, "server"), (Role.SERVER, "client")):
        entry = programs[name].role(role)
        for protocol in entry.protocols if entry else ():
            if protocol not in own:
                yield role, protocol, BUILTIN
            elif programs[name].serves(other, protocol):
                yield from [(role, protocol, name)] if role is Role.CLIENT else []
            else:
                yield from ((role, protocol, peer) for peer, each in programs.items() if each.serves(other, protocol))


def _message(cell: Cell) -> Check:
    what = f"{cell.protocol}, {cell.client} to {cell.server}: {cell.message_bytes} B, {cell.connection} connections"
    if cell.result == SUCCEEDED:
        return Check(OK, what, None)
    # Undeclared work is optional; declared work must succeed.
    return Check(UNSUPPORTED if cell.result == UNSUPPORTED and not cell.tried else NO, what, cell.reason)


def _refusals(program: Implementation, folder: Path, run: Run) -> Iterable[Check]:
    """Only a client that performs the whole workload reads parameters itself."""
    entry = program.roles.client
    if entry is None or not entry.command:
        return
    for what in ("protocol", "workload"):
        unknown = f"no-such-{what}"
        changed: dict[str, Any] = {what: unknown if what == "protocol" else {"kind": unknown}}
        yield _refusal(_command(program, entry, folder / what, changed), folder / what, f"an unsupported {what}", run)


def _refusal(command: list[str], folder: Path, what: str, run: Run) -> Check:
    from wirelab.clock.guest import GuestError

    try:
        code = run(command, folder)
    except (OSError, GuestError) as error:
        wrong: str | None = str(error)
    else:
        wrong = None if code == REFUSED else "it does not end" if code is None else f"exit code {code}"
    return Check(NO if wrong else OK, f"refuses {what} with exit code {REFUSED}", wrong)


def _on_this_machine(command: list[str], folder: Path) -> int | None:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=REFUSAL_TIMEOUT_S, check=False,
        ).returncode  # fmt: skip
    except subprocess.TimeoutExpired:
        return None


def _in_guest(command: list[str], folder: Path) -> int | None:
    from wirelab.agent import find_agent
    from wirelab.clock.guest import Command, Hypervisor, memory_folder, run_command
    from wirelab.clock.kernel import require_kernel

    hypervisor = Hypervisor(find_agent(), require_kernel(), memory_folder())
    limited = Command(("timeout", str(REFUSAL_TIMEOUT_S), *command), directory=folder)
    code = run_command(hypervisor, limited, [folder], 0, {}).exit_code
    return None if code == _TIMED_OUT else code


def _command(program: Implementation, entry: ClientEntry, folder: Path, changed: dict[str, Any]) -> list[str]:
    """The command of a client whose parameters have these changes."""
    from wirelab.runner.implementations import find_program
    from wirelab.schema import Closed, NewConnection, Telemetry

    folder.mkdir(parents=True)
    server: dict[str, Any] = {"address": "127.0.0.1", "port": 9, "name": "server.test"}
    workload = Telemetry(
        message_bytes=1, exchanges=1, arrival=Closed(), concurrency=1, timeout_ns=10**9, connection=NewConnection()
    )
    parameters = {
        "schema_version": 1, "protocol": entry.protocols[0], "role": "client", "settings": {}, "certificates": None,
        "server": server, "output": str(folder), "seed": 1, "workload": workload.model_dump(), **changed,
    }  # fmt: skip
    path = folder / "parameters.json"
    path.write_text(json.dumps(parameters), encoding="utf-8")
    own = {key: table.default for key, table in program.settings.items()}
    variables = {
        **entry.variables(entry.protocols[0], own, workload), **server, "host": server["address"],
        "parameters": str(path), "directory": str(folder), "upload_bytes": 1, "download_bytes": 0,
        "resources": (), "media_types": (),
        **{name: str(folder / f"{name}.pem") for name in ("authority", "chain", "key")},
    }  # fmt: skip
    name, *arguments = program.command([*entry.command, *entry.arguments], variables)
    return [find_program(name) or name, *arguments]
