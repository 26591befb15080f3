"""`wirelab merge`: parts of one campaign, run on several machines, as one campaign."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.campaigns import existing, not_an_option


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

    from wirelab.cli.run import derive, tell
    from wirelab.limits import require_limits
    from wirelab.report.campaign import load
    from wirelab.runner.merge import merge
    from wirelab.schema.record import read_record

    require_limits(starts=False)
    merged = merge([existing(part) for part in parts], not_an_option(out))
    click.echo(f"{len(merged)} parts, {sum(len(part.finished) for part in merged)} trials", err=True)
    derive(out, Console(stderr=True, highlight=False))
    campaign = load(out, out)
    tell(campaign, out)
    record = read_record(out)
    if record is not None and (digest := record.runs[-1].digest) is not None:
        click.echo(f"Digest  {digest}", err=True)
    return 1 if campaign.failed else 0
