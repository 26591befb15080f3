"""`wirelab new FILE --from NAME`."""

from __future__ import annotations

import re
from pathlib import Path

import click

from wirelab.errors import RunError, Where, WirelabError
from wirelab.launcher import launched

_NAME = re.compile(r"[a-z][a-z0-9]*")


@click.command(short_help="Start an experiment file of your own from a shipped one.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--from", "origin", metavar="NAME", help="What to copy.  [quickstart]")
@click.option("--stack", metavar="NAME", help="Begin a stack of your own: its client, its server and their entry.")
def command(file: Path, origin: str | None, stack: str | None) -> None:
    """Start an experiment file of your own from a shipped one, with the claims that it names.

    With --stack, the experiment is of a stack of your own, and a client and a server that speak it lie beside the file;
    an implementations.toml that is there already gets their entry below its own.
    """
    from wirelab.experiment.implementations import CATALOGUE

    if stack is not None and origin is not None:
        raise WirelabError("--from and --stack exclude each other")
    copies = _shipped(file, origin or "quickstart") if stack is None else _own_stack(file, stack)
    for path in copies:
        # The catalogue of other stacks only grows.
        if path.exists() and (stack is None or path != file.parent / CATALOGUE):
            raise WirelabError("exists already", Where(str(path)), hint="choose another name")
    for path, text in copies.items():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise RunError(f"cannot be written: {error.strerror}", Where(str(path))) from None
        click.echo(str(path))
    click.echo(f"Next    {launched(f'plan {file}')}", err=True)


def _shipped(file: Path, origin: str) -> dict[Path, str]:
    from wirelab.experiment import load_experiment

    experiment = load_experiment(origin)
    copies = {file: experiment.source.text}
    if experiment.claims is not None:
        copies[file.parent / experiment.claims.name] = experiment.claims.read_text(encoding="utf-8")
    return copies


def _own_stack(file: Path, name: str) -> dict[Path, str]:
    from wirelab.experiment.implementations import CATALOGUE
    from wirelab.experiment.library import templates
    from wirelab.schema import registered

    if not _NAME.fullmatch(name):
        raise WirelabError(f"'{name}' is no name of a stack", hint="small letters and digits, such as mine")
    if registered().stack(name) is not None:
        raise WirelabError(f"'{name}' is the name of a built-in stack", hint="give yours another")
    copies = {
        file if part == "experiment.toml" else file.parent / part.replace("NAME", name): text.replace("NAME", name)
        for part, text in templates().items()
    }
    catalogue = file.parent / CATALOGUE
    if catalogue.exists():
        copies[catalogue] = _grown(catalogue, name, copies[catalogue])
    return copies


def _grown(catalogue: Path, name: str, entries: str) -> str:
    """A folder's own catalogue with the entries of another stack below what is there."""
    from wirelab.experiment.implementations import STACKS_TABLE
    from wirelab.toml import parse_toml, read_text

    where = Where(str(catalogue))
    own = read_text(catalogue, where)
    known, new = parse_toml(own, where), parse_toml(entries, where)
    taken = [entry for entry in new if entry in known and entry != STACKS_TABLE]
    if taken or name in known.get(STACKS_TABLE, {}):
        raise WirelabError(f"has '{taken[0] if taken else name}' already", where, hint="choose another name")
    below = entries[entries.index(f"[{STACKS_TABLE}.") :]
    grown = f"{own.rstrip()}\n\n{below}"
    parse_toml(grown, where)
    return grown
