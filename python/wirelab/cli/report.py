"""`wirelab report`: a campaign's report as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.cli.arguments import by_option


@click.command("report", short_help="Write the report of a run as one HTML file.")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Output file.  [default: CAMPAIGN/report.html]",
)
@by_option
@click.option("--open", "show", is_flag=True, help="Open it in the browser.")
def command(campaign: Path, out: Path | None, by: str | None, show: bool) -> None:
    """Write the report of CAMPAIGN, a folder or a name under results/, as one offline HTML file and print its path.

    With --by, the campaign is first analyzed again.
    """
    from wirelab import report
    from wirelab.cli.analyze import analyze_campaign
    from wirelab.cli.campaigns import existing, writable
    from wirelab.limits import require_limits
    from wirelab.metrics.dataset import EXCHANGES, TRIAL_TABLE
    from wirelab.metrics.resource_timings import RESOURCES
    from wirelab.metrics.tables import require_whole
    from wirelab.runner.disk import require_writable
    from wirelab.runner.lock import locked

    require_limits(starts=False)
    only_reads = out is not None and by is None
    folder = existing(campaign) if only_reads else writable(campaign, "name another file with --out")
    if out is not None:
        require_writable(out.parent, out, "name another file with --out")
    with locked(folder):
        require_whole(*(folder / name for name in (EXCHANGES, TRIAL_TABLE, RESOURCES)))
        if by is not None:
            analyze_campaign(folder, by)
        path = report.write(folder, out)
    click.echo(path)
    if show:
        click.launch(path.resolve().as_uri())
