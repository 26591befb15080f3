"""`wirelab new FILE --from NAME`."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path

import click

from wirelab.cli.arguments import site_option, site_table
from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched

_NAME = re.compile(r"[a-z][a-z0-9]*")
_STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@click.command(short_help="Create your own experiment file from a shipped one.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--from", "origin", metavar="NAME", help="What to copy.  [quickstart]")
@site_option
@click.option("--protocol", metavar="NAME", help="Create your own protocol: a client, a server and their entry.")
@click.option("--paper", is_flag=True, help="Create a made-up paper: its claims, and the experiment that judges them.")
def command(file: Path, origin: str | None, site: Path | None, protocol: str | None, *, paper: bool) -> None:
    """Create your own experiment file from a shipped one, with its claims.

    With --site, it loads the page of that folder, and is a copy of `page` unless --from names another. With --protocol,
    the experiment measures your own protocol. A client and a server for it are written next to the file; an existing
    implementations.toml gets their entry appended. With --paper, the claims are those of a made-up paper, to be
    replaced by yours.
    """
    from wirelab.experiment.library import experiment_names
    from wirelab.experiment.programs.implementations import CATALOGUE

    _exclusive({"--paper": paper or None, "--protocol": protocol, "--from": origin, "--site": site})
    if str(file) in experiment_names():
        raise WirelabError("is the name of a shipped experiment", Where(str(file)), f"write {file}.toml")
    if protocol is not None:
        copies = _own_protocol(file, protocol)
    elif paper:
        copies = _own_paper(file)
    elif site is not None:
        copies = _with_site(file, origin or "page", site)
    else:
        copies = _shipped(file, origin or "quickstart")
    for path in copies:
        # Entries of other protocols stay in the catalogue.
        if path.exists() and (protocol is None or path != file.parent / CATALOGUE):
            raise WirelabError("exists already", Where(str(path)), hint="choose another name")
        if not path.parent.is_dir():
            hint = f"mkdir -p {shlex.quote(str(path.parent))}"
            raise WirelabError(f"there is no folder {path.parent}", Where(str(path)), hint)
    for path, text in copies.items():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise WirelabError(f"cannot be written: {error.strerror}", Where(str(path))) from None
        click.echo(str(path))
    click.echo(f"Next    {launched(f'check {file} --freeze' if paper else f'plan {file}')}", err=True)


def _exclusive(options: Mapping[str, object]) -> None:
    """Raises `WirelabError` if a paper or a protocol is to be something else too."""
    first, *others = [option for option, given in options.items() if given is not None] or [""]
    if others and first in {"--paper", "--protocol"}:
        raise WirelabError(f"{others[0]} and {first} exclude each other")


def _shipped(file: Path, origin: str) -> dict[Path, str]:
    from wirelab.experiment.experiment import load_experiment
    from wirelab.link_facts import asking

    with asking() as ask:
        experiment = load_experiment(origin, (), ask)
    copies = {file: experiment.source.text}
    if experiment.claims is not None:
        copies[file.parent / experiment.claims.name] = experiment.claims.read_text(encoding="utf-8")
    return copies


def _with_site(file: Path, origin: str, site: Path) -> dict[Path, str]:
    """The same file with the page of a folder."""
    from wirelab.experiment.experiment import load_experiment
    from wirelab.experiment.file.source import source_of_text
    from wirelab.link_facts import asking
    from wirelab.site.folder import read_folder

    with asking() as ask:
        experiment = load_experiment(origin, (), ask)
    if experiment.claims is not None:
        raise WirelabError(f"--site: the claims of {origin} are about its own pages", hint="--from page")
    source, page = experiment.source, site_table(site)
    lines = source.text.splitlines(keepends=True)
    if place := source.index.get(("workload", "page")):
        lines[place.line - 1] = f"page = {page}\n"
    meant = {**source.document, "workload": {**source.document.get("workload", {}), **tomllib.loads(f"page = {page}")}}
    text = "".join(lines)
    if place is None or source_of_text(text, file.stem, file.parent).document != meant:
        raise WirelabError(f"--site: {origin} has no line `page = …` in [workload]", hint="--from page")
    read_folder(site)
    return {file: text}


def _own_paper(file: Path) -> dict[Path, str]:
    from wirelab.experiment.library import templates

    if file.suffix != ".toml" or not _STEM.fullmatch(file.stem):
        hint = "letters, digits, - and _, then .toml, such as mine2026.toml"
        raise WirelabError("is not a valid name for a paper's experiment", Where(str(file)), hint)
    return {
        file.parent / part.replace("NAME", file.stem): text.replace("NAME", file.stem)
        for part, text in templates("paper").items()
    }


def _own_protocol(file: Path, name: str) -> dict[Path, str]:
    from wirelab.experiment.library import templates
    from wirelab.experiment.programs.implementations import CATALOGUE
    from wirelab.schema import registered

    if not _NAME.fullmatch(name):
        raise WirelabError(f"'{name}' is not a valid protocol name", hint="small letters and digits, such as mine")
    if registered().protocol(name) is not None:
        raise WirelabError(f"'{name}' is the name of a built-in protocol", hint="choose another name")
    copies = {
        file if part == "experiment.toml" else file.parent / part.replace("NAME", name): text.replace("NAME", name)
        for part, text in templates("protocol").items()
    }
    catalogue = file.parent / CATALOGUE
    if catalogue.exists():
        copies[catalogue] = _grown(catalogue, name, copies[catalogue])
    return copies


def _grown(catalogue: Path, name: str, entries: str) -> str:
    """A folder's own catalogue with the entries of another protocol appended."""
    from wirelab.experiment.programs.implementations import PROTOCOLS_TABLE
    from wirelab.toml import parse_toml, read_text

    where = Where(str(catalogue))
    own = read_text(catalogue, where)
    known, new = parse_toml(own, where), parse_toml(entries, where)
    taken = [entry for entry in new if entry in known and entry != PROTOCOLS_TABLE]
    if taken or name in known.get(PROTOCOLS_TABLE, {}):
        raise WirelabError(f"has '{taken[0] if taken else name}' already", where, hint="choose another name")
    below = entries[entries.index(f"[{PROTOCOLS_TABLE}.") :]
    grown = f"{own.rstrip()}\n\n{below}"
    parse_toml(grown, where)
    return grown
