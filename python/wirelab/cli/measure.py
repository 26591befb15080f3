"""`wirelab measure`: a campaign's raw records as two tables."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("measure", short_help="Measure again: turn the raw records of a run into a dataset.")
@click.argument("campaign", type=click.Path(path_type=Path))
def command(campaign: Path) -> None:
    """Turn the raw records of CAMPAIGN, a folder or a name under results/, into two Parquet files."""
    from wirelab.cli.campaigns import writable
    from wirelab.launcher import launched
    from wirelab.limits import require_limits
    from wirelab.metrics.dataset import measure
    from wirelab.metrics.trial_rows import damage_words
    from wirelab.runner.lock import locked

    require_limits(starts=False)
    folder = writable(campaign)
    with locked(folder):
        measured = measure(folder)
    trials = len(measured.trials)
    click.echo(f"{trials:,} trial{'s' * (trials != 1)}, {measured.exchanges:,} exchanges", err=True)
    if (damaged := damage_words(measured.trials)) is not None:
        click.echo(damaged, err=True)
    click.echo(folder / "exchanges.parquet")
    click.echo(folder / "trials.parquet")
    click.echo(f"Next    {launched(f'analyze {campaign}')}", err=True)
