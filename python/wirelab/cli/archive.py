"""`wirelab archive`: a run as one file."""

from __future__ import annotations

from pathlib import Path

import click


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
    from wirelab.schema.campaign import EXPERIMENT
    from wirelab.site import count

    require_limits(starts=False)
    folder = existing(campaign)
    target = Path(f"{folder.resolve().name}{SUFFIX}") if out is None else not_an_option(out)
    if target.suffix != SUFFIX:
        raise WirelabError(
            f"the name does not end in {SUFFIX} ({target})", "--out", f"such as {folder.resolve().name}{SUFFIX}"
        )
    require_writable(target.parent, target, "name another file with --out")
    with locked(folder):
        contents = write(folder, target, licence=licence)
    size = target.stat().st_size
    click.echo(f"{target}  {count(len(contents), 'file')}, {size / 1e6:.1f} MB")
    if not any(each.name == EXPERIMENT for each in contents):
        click.echo("It has no copy of the experiment's file: plan.json has what that said.", err=True)
