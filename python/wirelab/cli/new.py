"""`wirelab new FILE --from NAME`."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.errors import RunError, Where, WirelabError
from wirelab.launcher import launched


@click.command(short_help="Start an experiment file of your own from a shipped one.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--from", "origin", default="quickstart", show_default=True, metavar="NAME", help="What to copy.")
def command(file: Path, origin: str) -> None:
    """Start an experiment file of your own from a shipped one, with the claims that it names."""
    from wirelab.experiment import load_experiment

    experiment = load_experiment(origin)
    copies = {file: experiment.source.text}
    if experiment.claims is not None:
        copies[file.parent / experiment.claims.name] = experiment.claims.read_text(encoding="utf-8")
    for path in copies:
        if path.exists():
            raise WirelabError("exists already", Where(str(path)), hint="choose another name")
    for path, text in copies.items():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise RunError(f"cannot be written: {error.strerror}", Where(str(path))) from None
        click.echo(str(path))
    click.echo(f"Next    {launched(f'plan {file}')}", err=True)
