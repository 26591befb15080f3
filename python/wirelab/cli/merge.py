"""`wirelab merge`: parts of one campaign, run on several machines, as one campaign."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.campaigns import existing, not_an_option

if TYPE_CHECKING:
    from rich.console import Console


@click.command("merge", short_help="Put the parts of a run together: trials of several machines as one campaign.")
@click.argument("parts", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, metavar="ALL", type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the whole campaign, which must not be there yet.",
)  # fmt: skip
def command(parts: tuple[Path, ...], out: Path) -> int:
    """Merge the folders of `run --shard I/N` into one campaign, and measure, analyze and report it.

    Every trial of the plan is there once, or nothing is written. Parts of different plans, versions, clocks or kernels
    are refused, and missing shards are named with their command. Under the virtual clock the campaign is that of one
    run without shards, with the same digest. What ran each part is kept in ALL/parts.
    """
    from rich.console import Console

    from wirelab.limits import require_limits

    require_limits(starts=False)
    folders = [existing(part) for part in parts]
    return merged(folders, not_an_option(out), Console(stderr=True, highlight=False))


def merged(parts: Sequence[Path], out: Path, console: Console) -> int:
    """Merge, measure, analyze, report, and print the summary."""
    from wirelab.cli.expectations import exit_code
    from wirelab.cli.run import derive, tell
    from wirelab.cli.terminate import terminated_as_interrupted
    from wirelab.report.campaign import load
    from wirelab.runner.merge import merge
    from wirelab.schema.record import read_record

    with terminated_as_interrupted():
        found = merge(parts, out)
    console.print(f"{len(found)} parts, {found[0].plan.trials} trials", markup=False)
    derive(out, console)
    campaign = load(out, out)
    tell(campaign, out)
    record = read_record(out)
    if record is not None and (digest := record.runs[-1].digest) is not None:
        click.echo(f"Digest  {digest}", err=True)
    not_confirmed = record is not None and record.runs[-1].not_confirmed
    return 1 if campaign.failed or not_confirmed else exit_code(campaign.estimates, inconclusive_fails=False)
