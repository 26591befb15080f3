"""`wirelab energy`: what a capture cost a radio by its model, and what a measured trace says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import DurationType, QuantityType, energy_record, radio_options
from wirelab.errors import CombinedError, Where, WirelabError
from wirelab.launcher import launched
from wirelab.units import duration_ns

if TYPE_CHECKING:
    from wirelab.schema.plan import EnergyRecord
    from wirelab_energy.trace.answer import Sections

FORMATS = ("text", "json", "csv")
_FILE = click.Path(path_type=Path)
_SINCE = QuantityType("time", duration_ns, may_be_0=True)


@click.command("energy", short_help="Energy of a capture by a radio's model, or of a measured trace.")
@click.argument("capture", required=False, type=_FILE)
@radio_options("Time from one message to the next: the capture is one.", "--interval and --voltage")
@click.option("--client", metavar="IP", help="Address in the capture of the device with the radio.")
@click.option(
    "--cpu-time", type=DurationType(), metavar="DURATION", help="CPU time over the capture, measured on --device."
)
@click.option("--set", "sets", multiple=True, metavar="INPUT=VALUE", help="Change an input of the radio. May repeat.")
@click.option("--trace", type=_FILE, metavar="FILE", help="A measured current or power: PPK2, Otii, IoT-LAB, CSV.")
@click.option("--idle-from", type=_SINCE, metavar="TIME", help="Where its idle section begins.  [found]")
@click.option("--idle-to", type=_SINCE, metavar="TIME", help="Where its idle section ends.")
@click.option("--from", "work_from", type=_SINCE, metavar="TIME", help="Where the work begins.  [its beginning]")
@click.option("--to", "work_to", type=_SINCE, metavar="TIME", help="Where the work ends.  [its end]")
@click.option("--campaign", type=_FILE, metavar="DIR", help="Compare the trace with the trials that ran meanwhile.")
@click.option("--begins-at", metavar="TIME", help="When a trace without a clock began: 2026-03-01T12:00:00.5Z.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="How to print it.  [text]")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    capture: Path | None,
    radio: str | None,
    device: str | None,
    interval: int | None,
    battery: float | None,
    voltage: float | None,
    client: str | None,
    cpu_time: int | None,
    sets: tuple[str, ...],
    trace: Path | None,
    idle_from: int | None,
    idle_to: int | None,
    work_from: int | None,
    work_to: int | None,
    campaign: Path | None,
    begins_at: str | None,
    format_: str,
) -> None:
    """Compute what the packets of CAPTURE (pcap, pcapng) cost the radio of one client, tail included.

    With --interval the capture is one message, sent as often: a day of it, and how long a battery lasts. With
    --cpu-time, as getrusage had it on the device, its processor's energy is in all of them.

    With --trace instead, integrate a measured current or power above idle. Times in it count from its beginning.
    With --campaign compare it, trial by trial, with the model of the trial's packets.
    """
    if capture is not None and trace is not None:
        raise WirelabError("give a capture or --trace, not both", hint="wirelab energy --help")
    if capture is None and trace is None:
        raise WirelabError("give a capture, or --trace and a trace of power", hint="wirelab energy --help")
    if capture is not None:
        measured = None if cpu_time is None else "--cpu-time"
        record = None if radio is None else energy_record(radio, sets, device, battery, voltage, measured)
        if record is not None and battery is not None and interval is None:
            raise WirelabError("a battery's life needs --interval", "--battery", "--interval 15min")
        if record is None or client is None:
            raise CombinedError(_wrong_with(capture, record, client))
        of_trace = {
            "--idle-from": idle_from, "--idle-to": idle_to, "--from": work_from, "--to": work_to,
            "--campaign": campaign, "--begins-at": begins_at,
        }  # fmt: skip
        _refuse(of_trace, "is of a trace, and this is a capture", "--trace FILE")
        from wirelab.cli.energy.capture import print_capture

        print_capture(capture, client, record, interval_ns=interval, cpu_time_ns=cpu_time, format_=format_)
        return
    assert trace is not None
    of_capture = {
        "--client": client, "--device": device, "--cpu-time": cpu_time, "--interval": interval, "--battery": battery,
    }  # fmt: skip
    of_radio = {"--radio": radio, "--set": sets or None}
    if campaign is None:
        hint = "with --campaign DIR both are compared"
        _refuse({**of_capture, **of_radio}, "is of a capture, and this is a trace", hint)
        _refuse({"--begins-at": begins_at}, "places trials in a trace, and no campaign is given", "--campaign DIR")
    else:
        _refuse(of_capture, "is of a capture, and this is a trace", "wirelab energy CAPTURE")
        _refuse({"--from": work_from, "--to": work_to}, "is of a trace alone: of a campaign, each trial is the work")
    if radio is None:
        _refuse(of_radio, "is a radio's, and none is given", f"--radio NAME ({launched('list radios')})")
    record = None if radio is None else energy_record(radio, sets, None, None, None)
    from wirelab.cli.energy.trials import print_trials
    from wirelab_energy.trace.answer import Sections

    sections = Sections(idle_from, idle_to, work_from, work_to)
    if campaign is None:
        _print_trace(trace, voltage, sections, format_)
    else:
        print_trials(trace, voltage, sections, (campaign, begins_at, record), format_)


def _print_trace(trace: Path, voltage_v: float | None, sections: Sections, format_: str) -> None:
    from wirelab_energy.trace.answer import TraceAnswer

    answer = TraceAnswer.of(trace, voltage_v, sections)
    match format_:
        case "json":
            click.echo(json.dumps(answer.as_dict(), ensure_ascii=False))
            return
        case "csv":
            click.echo(answer.as_csv())
        case _:
            click.echo("\n".join(answer.lines()))
    for words in answer.notes():
        click.echo(words, err=True)


def _wrong_with(capture: Path, record: EnergyRecord | None, client: str | None) -> Iterator[WirelabError]:
    """What is missing, and what is wrong with what is given."""
    from wirelab.metrics.energy_settings import Settings

    if not capture.exists():
        yield WirelabError("no such file", Where(str(capture)))
    if record is None:
        yield WirelabError("a capture needs --radio", hint=launched("list radios"))
    else:
        try:
            Settings.of(record)
        except WirelabError as error:
            yield error
    if client is None:
        yield WirelabError("a capture needs --client", hint="--client 10.0.0.1")


def _refuse(options: Mapping[str, object], why: str, hint: str | None = None) -> None:
    if given := [name for name, value in options.items() if value is not None]:
        raise WirelabError(f"{given[0]} {why}", hint=hint)
