"""`wirelab show`: one exchange, or one trial, as a packet diagram; a packet log as a table; a page's load as HAR."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from wirelab.cli.campaigns import RESULTS, existing
from wirelab.cli.show.table import BY_NETEM, is_packet_log, packet_table
from wirelab.cli.show.trial_words import energy_words, link_words, resource_lines
from wirelab.errors import Where, WirelabError, did_you_mean, offer
from wirelab.launcher import launched
from wirelab.metrics.packets import PROXY, SERVER, packets_behind_proxy, packets_of
from wirelab.schema import is_netem
from wirelab.schema.campaign import PLAN, TRIALS, read_plan

if TYPE_CHECKING:
    import polars as pl

    from wirelab.schema.plan import Plan


class Place(NamedTuple):
    """What the arguments name."""

    campaign: Path
    trial: str | None
    protocol: str | None


@click.command("show", short_help="Show a request of a run as a packet diagram, or a packet log as a table.")
@click.argument("what", metavar="CAMPAIGN|TRIAL|PROTOCOL|LOG")
@click.argument("trial", required=False)
@click.option("--protocol", help="An exchange of this protocol.")
@click.option("--scenario", help="An exchange of the scenario with this name or key.")
@click.option("--exchange", type=click.IntRange(min=0), help="This exchange of the trial.")
@click.option("--cost", is_flag=True, help="Of a folder of `exact`: what losing each packet costs.")
@click.option("--slowest", is_flag=True, help="The slowest exchange, instead of a typical one.")
@click.option(
    "--har",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write the page's load, or all of a TRIAL's, as HTTP Archive 1.2 instead; - is stdout.",
)
def command(  # noqa: PLR0913 (one parameter for each option)
    what: str,
    trial: str | None,
    protocol: str | None,
    scenario: str | None,
    exchange: int | None,
    *,
    cost: bool,
    slowest: bool,
    har: Path | None,
) -> None:
    """Show an exchange as a packet diagram, with losses, retransmissions and phases.

    The first argument is a campaign (a folder, or a name under results/), a trial's folder, or a protocol of the newest
    campaign. A campaign alone shows a typical exchange, the one nearest to the median; a TRIAL shows all of its own.

    LOG is a packet log, of a trial or of `wirelab link --log LOG`: every packet, delivered or dropped.
    """
    if is_packet_log(Path(what)):
        if trial is not None or protocol or scenario or exchange is not None or slowest or har:
            raise WirelabError("a packet log contains packets, not exchanges", hint=launched(f"show {what}"))
        click.echo(packet_table(Path(what)))
        return
    if cost:
        if trial is not None or exchange is not None or slowest or har:
            hint = launched(f"show {what} --cost")
            raise WirelabError("--cost is of the one exchange that was enumerated", hint=hint)
        from wirelab.cli.show.cost import show_costs

        show_costs(existing(Path(what)), protocol, scenario)
        return
    place = _place(what, trial)
    campaign = place.campaign
    rows = _exchanges(campaign)
    plan = read_plan(campaign)
    rows = _narrowed(rows, plan, place.protocol or protocol, scenario)
    metric = plan.experiment.metric
    if place.trial is not None:
        rows = rows.filter(rows["trial"] == place.trial)
    if exchange is not None:
        rows = rows.filter(rows["index"] == exchange)
    if slowest or (place.trial is None and exchange is None):
        from wirelab.metrics.one_exchange import one_exchange

        rows = one_exchange(rows, metric, slowest=slowest)
    elif place.trial is None and not rows.is_empty():
        # Each trial has one of this number: that of the first is shown.
        rows = rows.filter(rows["trial"] == rows["trial"][0])
    if rows.is_empty() and (place.trial is None or slowest or exchange is not None):
        raise WirelabError(f"{campaign} has no such exchange", hint=f"its trials are in {campaign / TRIALS}")
    shown = place.trial if place.trial is not None else rows["trial"][0]
    if har is not None:
        _write_archive(campaign, plan, shown, rows, har)
        return
    _show(campaign, plan, shown, rows)


def _place(what: str, trial: str | None) -> Place:
    path = Path(what)
    if path.parent.name == TRIALS and path.is_dir():
        return Place(path.resolve().parents[1], path.name, None)
    from wirelab.schema import registered

    if not path.exists() and registered().protocol(what) is not None:
        campaigns = sorted(RESULTS.glob(f"*/{PLAN}"), key=lambda plan: plan.stat().st_mtime)
        if not campaigns:
            raise WirelabError("there is no campaign under results/", hint=f"{launched('run FILE')} makes one")
        return Place(campaigns[-1].parent, trial, what)
    for found in RESULTS.glob(f"*/{TRIALS}/{what}"):
        return Place(found.parents[1], what, None)
    campaign, name = existing(path), Path(trial).name if trial else None
    if name is not None and not (campaign / TRIALS / name).is_dir():
        known = [folder.name for folder in (campaign / TRIALS).glob("*") if folder.is_dir()]
        such = f"such as {min(known)}" if known else None
        raise WirelabError(f"no trial '{name}' in {campaign}", hint=offer(name, known) or such)
    return Place(campaign, name, None)


def _exchanges(campaign: Path) -> pl.DataFrame:
    from wirelab.metrics.dataset import EXCHANGES
    from wirelab.metrics.steps import next_command
    from wirelab.metrics.tables import read_table

    if not (campaign / EXCHANGES).exists():
        raise WirelabError(f"{campaign} has no {EXCHANGES}", hint=next_command(campaign))
    return read_table(campaign / EXCHANGES)


def _narrowed(rows: pl.DataFrame, plan: Plan, protocol: str | None, scenario: str | None) -> pl.DataFrame:
    import polars as pl

    chosen = plan.scenarios
    if protocol is not None:
        known = sorted({s.protocol for s in chosen})
        chosen = tuple(s for s in chosen if s.protocol == protocol)
        if not chosen:
            raise WirelabError(f"no scenario with the protocol '{protocol}'", hint=did_you_mean(protocol, known))
    if scenario is not None:
        names = [s.name for s in chosen]
        chosen = tuple(s for s in chosen if s.name == scenario or s.key.startswith(scenario))
        if not chosen:
            raise WirelabError(f"no scenario '{scenario}'", hint=did_you_mean(scenario, names))
    return rows.filter(pl.col("scenario").is_in([s.key for s in chosen]))


def _show(campaign: Path, plan: Plan, trial: str, exchanges: pl.DataFrame) -> None:
    from rich.console import Console

    from wirelab.metrics.packet_diagram import packet_diagram

    folder = campaign / TRIALS / trial
    scenario = plan.scenario_of(trial)
    records = exchanges.to_dicts()
    packets = packets_of(folder, records, whole=len(records) != 1)
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{scenario.name if scenario else trial}  [dim]{folder}[/dim]")
    if scenario is not None and is_netem(scenario.link):
        console.print(BY_NETEM)
    for words in (*link_words(folder), *resource_lines(folder)):
        console.print(words)
    if scenario is not None and (energy := energy_words(campaign, scenario, trial, records)):
        console.print(energy)
    for record in records if len(records) == 1 else []:
        lasted = (record["end_ns"] - record["start_ns"]) / 1e6
        console.print(f"exchange {record['index']}, {record['outcome']} after {lasted:.3f} ms{_waited(record)}\n")
    origin = min([r["start_ns"] for r in records] or [p["arrival_ns"] for p in packets] or [0])
    proxied = scenario is not None and scenario.origin is not None
    for line in packet_diagram(packets, records, origin, ("client", PROXY if proxied else SERVER)):
        console.print(line)
    if scenario is None or not proxied or len(records) != 1:
        return
    link, ends, behind = packets_behind_proxy(folder, scenario, records[0])
    console.print(f"\n{link}, during the same time")
    for line in packet_diagram(behind, [], origin, ends):
        console.print(line)


def _waited(record: dict[str, Any]) -> str:
    """How long it had waited for its start; empty in a closed loop."""
    waited_ns = record["start_ns"] - (record["intended_start_ns"] or record["start_ns"])
    return f", started {waited_ns / 1e6:.3f} ms later than intended" if waited_ns > 0 else ""


def _write_archive(campaign: Path, plan: Plan, trial: str, loads: pl.DataFrame, file: Path) -> None:
    """These loads of a trial as HAR; `-` is stdout."""
    from wirelab.metrics.har import archive
    from wirelab.runner.endpoints import SERVER_NAME

    found = archive(campaign, plan, trial, loads, SERVER_NAME)
    text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if str(file) == "-":
        click.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WirelabError(f"cannot be written: {error.strerror}", Where(str(file))) from None
    pages, entries = (len(found["log"][what]) for what in ("pages", "entries"))
    click.echo(f"{pages} load{'s' * (pages != 1)}, {entries} resource{'s' * (entries != 1)}: {file}", err=True)
