"""`wirelab figures`: the charts and tables of a run as files for a paper or slides."""

from __future__ import annotations

from pathlib import Path

import click

from wirelab.errors import WirelabError, did_you_mean

FOLDER = "figures"


@click.command("figures", short_help="Write the charts and tables of a run as files for a paper or slides.")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option("--format", "formats", default="svg,pdf", metavar="KIND[,KIND...]", help="svg, pdf or png.  [svg,pdf]")
@click.option("--for", "venue", default="ieee", metavar="VENUE", help="Widths of ieee, acm or slides.  [ieee]")
@click.option("--only", multiple=True, metavar="NAME", help="Only this chart. May be repeated.")
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path, file_okay=False), help="Folder.  [CAMPAIGN/figures]"
)
def command(campaign: Path, formats: str, venue: str, only: tuple[str, ...], out: Path | None) -> None:
    """Write each chart of CAMPAIGN's report as a file with its own colours, font and legend, and print its name.

    CAMPAIGN is a folder or a name under results/. The folder also gets figures.tex and figures.md with captions, each
    table as LaTeX, and wirelab.bib. A chart is as wide as a column if its text has 7 points then, else as wide as the
    page. On slides text has 12 points or more.
    """
    from wirelab.cli.campaigns import existing, not_an_option, writable
    from wirelab.limits import require_limits
    from wirelab.report.campaign import load
    from wirelab.report.export.files import FORMATS, write_figures
    from wirelab.report.export.venues import VENUES
    from wirelab.runner.disk import require_writable
    from wirelab.runner.lock import locked

    require_limits(starts=False)
    kinds = tuple(dict.fromkeys(each.strip() for each in formats.split(",") if each.strip()))
    for option, names, known in (("--format", kinds, FORMATS), ("--for", (venue,), tuple(VENUES))):
        for name in names:
            if name not in known:
                raise WirelabError(f"unknown ({name})", option, did_you_mean(name, known))
    if not kinds:
        raise WirelabError("names nothing", "--format", f"one of {', '.join(FORMATS)}")
    folder = writable(campaign, "name another folder with --out") if out is None else existing(campaign)
    target = folder / FOLDER if out is None else not_an_option(out)
    if out is not None:
        require_writable(out.parent, out, "name another folder with --out")
    with locked(folder):
        written = write_figures(load(folder, target), target, kinds, venue, only)
    width = max(len("chart"), *(len(each.name) for each in written))
    click.echo(f"{'chart':{width}}  width   height  smallest text  tables")
    for each in written:
        chart = each.chart
        sizes = f"{chart.width_pt:3.0f} pt  {chart.height_pt:4.0f} pt  {chart.text_pt:10.1f} pt"
        click.echo(f"{each.name:{width}}  {sizes}  {each.tables:6}")
    tall = [each.name for each in written if each.chart.height_pt > VENUES[venue].height_pt]
    if tall:
        click.echo(f"\nHigher than a page of {VENUES[venue].height_pt:.0f} pt: {', '.join(tall)}")
    click.echo(f"\n{target}")
