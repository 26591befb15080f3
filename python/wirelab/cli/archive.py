"""`wirelab archive`: a run as one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wirelab.schema.plan import Plan


@click.command("archive", short_help="Write a run as one file that others check and repeat.")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option("--out", metavar="FILE.zip", type=click.Path(path_type=Path, dir_okay=False), help="[NAME.zip]")
@click.option("--licence", metavar="NAME", help="Under which licence others may use it, such as CC-BY-4.0.")
def command(campaign: Path, out: Path | None, licence: str | None) -> None:
    """Write CAMPAIGN, a folder or a name under results/, as one ZIP file and print its path.

    It holds the experiment, all records and results, versions, the recipe of the virtual clock's kernel, and the
    SHA-256 of each file. `verify` checks it, and with --again repeats a run of the virtual clock. It is an RO-Crate
    1.1. Keys of certificates are left out: a run makes its own.
    """
    from wirelab.archive.zipped import SUFFIX, write
    from wirelab.cli.campaigns import existing, not_an_option
    from wirelab.errors import WirelabError
    from wirelab.limits import require_limits
    from wirelab.runner.disk import require_writable
    from wirelab.runner.lock import locked
    from wirelab.schema.campaign import read_plan
    from wirelab.site import count

    require_limits(starts=False)
    folder = existing(campaign)
    target = Path(f"{folder.name}{SUFFIX}") if out is None else not_an_option(out)
    if target.suffix != SUFFIX:
        raise WirelabError(f"the name does not end in {SUFFIX} ({target})", "--out", f"such as {folder.name}{SUFFIX}")
    require_writable(target.parent, target, "name another file with --out")
    with locked(folder):
        text = _experiment(read_plan(folder))
        contents = write(folder, target, experiment=text, licence=licence)
    size = target.stat().st_size
    click.echo(f"{target}  {count(len(contents), 'file')}, {size / 1e6:.1f} MB")
    if text is None:
        click.echo("The experiment's file is not here, or was changed; plan.json has what it said.", err=True)


def _experiment(plan: Plan) -> str | None:
    """The text of the experiment's file, if it is here or ships, and still says what was run."""
    from wirelab.cli.arguments import load
    from wirelab.errors import WirelabError
    from wirelab.experiment.library import experiment_file
    from wirelab.plan import make_plan

    sets = [f"{path}={', '.join(map(str, levels))}" for path, levels in plan.experiment.sets.items()]
    for file in (Path(plan.experiment.file), Path(str(experiment_file(plan.experiment.name)))):
        if not file.is_file():
            continue
        try:
            now = make_plan(load(str(file), sets))
        except WirelabError:
            continue
        if {each.identity for each in now.scenarios} == {each.identity for each in plan.scenarios}:
            return file.read_text(encoding="utf-8")
    return None
