"""`wirelab analyze`: a campaign's dataset as estimates, and as verdicts if its experiment has claims."""

from __future__ import annotations

import json
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import by_option, energy_record, radio_options
from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.units import format_duration

if TYPE_CHECKING:
    from wirelab.schema.estimates import Estimates
    from wirelab.schema.plan import Plan
    from wirelab.schema.verdicts import Verdicts

MEASURED = "--measured-on-device"


@click.command("analyze", short_help="Analyze again: turn the dataset of a run into estimates and verdicts.")
@click.argument("campaign", type=click.Path(path_type=Path))
@by_option
@radio_options("Refuse a campaign with another time between messages.", "--voltage")
@click.option("--set", "sets", multiple=True, metavar="INPUT=VALUE", help="Change an input of the radio. May repeat.")
@click.option(MEASURED, is_flag=True, help="The campaign ran on --device: its client's CPU time counts as energy.")
@click.option("--json", "as_json", is_flag=True, help="Print estimates and verdicts as JSON.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    campaign: Path,
    by: str | None,
    radio: str | None,
    device: str | None,
    interval: int | None,
    battery: float | None,
    voltage: float | None,
    sets: tuple[str, ...],
    *,
    measured_on_device: bool,
    as_json: bool,
) -> None:
    """Turn the dataset of CAMPAIGN, a folder or a name under results/, into estimates.json.

    If its experiment has claims, verdicts.json too. Also writes estimates.csv, estimates.parquet and exchanges.csv.

    With --radio, the campaign is first measured again with the energy of the client's radio. The options replace
    [energy] of the experiment. A day's energy needs a campaign whose messages have a time between them. With --by,
    reports of these estimates rank by this statistic.
    """
    from wirelab.cli import summary
    from wirelab.cli.campaigns import writable
    from wirelab.cli.energy_summary import energy_table
    from wirelab.limits import require_limits
    from wirelab.metrics.dataset import measure
    from wirelab.metrics.energy_settings import Settings, with_kept_files
    from wirelab.report.campaign import load
    from wirelab.runner.lock import locked
    from wirelab.schema.campaign import read_plan
    from wirelab.schema.verdicts import read_verdicts

    require_limits(starts=False)
    folder = writable(campaign)
    record = None
    if radio is not None:
        record = energy_record(radio, sets, device, battery, voltage, MEASURED if measured_on_device else None)
        Settings.of(record)
        _check_interval(read_plan(folder), interval)
    elif sets or measured_on_device or any(each is not None for each in (device, interval, battery, voltage)):
        raise WirelabError(
            "these options need a radio, and none is given", hint=f"--radio NAME ({launched('list radios')})"
        )
    with locked(folder):
        if record is not None:
            measure(folder, with_kept_files(record, folder))
        estimates = analyze_campaign(folder, by)
    verdicts = read_verdicts(folder)
    if as_json:
        click.echo(json.dumps({"estimates": estimates, "verdicts": verdicts}, ensure_ascii=False))
        return
    loaded = load(folder, folder)
    click.echo(summary.link_line(loaded))
    for table in (*summary.tables(loaded), *energy_table(loaded)):
        click.echo(f"\n{table}")
    if verdicts is not None:
        _print_verdicts(verdicts)
    for note in estimates["notes"]:
        click.echo(note, err=True)
    if loaded.unfinished:
        click.echo(loaded.unfinished, err=True)
    click.echo(f"Next    {launched(f'report {campaign}')}", err=True)


def analyze_campaign(folder: Path, by: str | None = None) -> Estimates:
    """Write estimates and, if the experiment has claims, verdicts; return the estimates. Protocols are ranked by the
    statistic that the plan names, unless by another one.
    """
    from wirelab.claims.judge import judge_campaign
    from wirelab.schema.verdicts import VERDICTS
    from wirelab.stats.analyze import analyze

    estimates = analyze(folder, by)
    if judge_campaign(folder, estimates) is None:
        (folder / VERDICTS).unlink(missing_ok=True)
    return estimates


def _check_interval(plan: Plan, interval_ns: int | None) -> None:
    """Refuse an interval that did not run: energy is that of the time that passed."""
    ran = sorted({each.workload.gap_ns for each in plan.scenarios}, key=lambda gap_ns: gap_ns or 0)
    if interval_ns is None or all(gap_ns is not None and isclose(gap_ns, interval_ns) for gap_ns in ran):
        return
    between = ", ".join(format_duration(gap_ns) for gap_ns in ran if gap_ns is not None)
    how = f"one message every {between}" if None not in ran else "back to back: no message has a gap behind it"
    what = f"{format_duration(interval_ns)}, but the campaign ran {how}"
    again = f"--set workload.interval={format_duration(interval_ns).replace(' ', '')}"
    raise WirelabError(what, "--interval", f"run it again with {again}")


def _print_verdicts(verdicts: Verdicts) -> None:
    from wirelab.report import over_grid

    click.echo("")
    for claim in verdicts["claims"]:
        click.echo(f"{claim['id']:4} {claim['verdict']:10} {claim['text']}")
        if (link := claim["link"]) is not None and link["flag"] != "good":
            click.echo(f"{'':15} {link['flag']}: {link['why']}")
        if claim["contradiction"]:
            click.echo(f"{'':15} {claim['contradiction']}")
    for statement in over_grid.statements(verdicts["claims"], verdicts.get("grid")):
        click.echo("\n".join(statement.lines()))
    family = verdicts["family"]
    click.echo(
        f"At most {family['error_rate']:.0%} chance of one wrong decision or more among {family['claims']} claims."
    )
