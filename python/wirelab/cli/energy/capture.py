"""The energy of a capture, printed for people, as JSON and as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wirelab.cli.text import columns
from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched
from wirelab.opened import open_file
from wirelab.units import format_duration, format_energy, format_size, with_bounds

if TYPE_CHECKING:
    from wirelab.metrics.energy_settings import Equipment
    from wirelab.schema.plan import EnergyRecord
    from wirelab_energy import Packet, Range
    from wirelab_energy.answer import CaptureAnswer

_YEAR_DAYS = 365.25


def print_capture(  # noqa: PLR0913 (one parameter for each option)
    capture: Path,
    client: str,
    record: EnergyRecord,
    *,
    interval_ns: int | None,
    cpu_time_ns: int | None,
    format_: str,
) -> None:
    """What the packets of one client cost, and the CPU time that its device took for them."""
    from wirelab.metrics.energy_settings import Settings
    from wirelab_energy.answer import CaptureAnswer
    from wirelab_energy.capture import client_packets

    settings = Settings.of(record).common
    assert settings is not None, "a capture has one radio"
    rows, remarks = _read(capture)
    left_out = [words for words in remarks if "left out" in words]
    packets = client_packets(rows, client, Where(str(capture)), left_out)
    cpu_time_s, interval_s = (None if each is None else each / 1e9 for each in (cpu_time_ns, interval_ns))
    battery = None
    if record.battery_mah is not None and record.battery_v is not None:
        battery = (record.battery_mah, record.battery_v)
    answer = CaptureAnswer.of(packets, settings.radio, settings.device, cpu_time_s, interval_s, battery)
    notes = [*remarks, *answer.notes(), f"Sources: {launched(f'describe radio {settings.radio.name}')}"]
    match format_:
        case "json":
            names = {"capture": str(capture), "client": client}
            chosen = _chosen(settings, interval_s, battery)
            click.echo(json.dumps(names | answer.as_dict() | chosen | {"notes": notes}, ensure_ascii=False))
            return
        case "csv":
            click.echo(answer.as_csv(), nl=False)
        case _:
            click.echo("\n".join(_lines(answer, f"{capture.name}: {client}", battery)))
    for words in notes:
        click.echo(words, err=True)


def _chosen(settings: Equipment, interval_s: float | None, battery: tuple[float, float] | None) -> dict[str, Any]:
    """What the options say, with the sources of the models."""
    from wirelab.metrics.energy_settings import device_record, radio_record

    return {
        "radio": radio_record(settings.radio), "device": device_record(settings.device),
        "measured_on_device": settings.measured_on_device, "interval_s": interval_s,
        "battery": None if battery is None else {"capacity_mah": battery[0], "voltage_v": battery[1]},
    }  # fmt: skip


def _read(capture: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The capture's packets, and what is missing from it."""
    from wirelab.agent import NAME, ask, find_agent

    open_file(capture, Where(str(capture)), None).close()
    heard: list[str] = []
    try:
        lines = ask(find_agent(), ["capture"], heard=heard.append, files=[str(capture)]).splitlines()
    except WirelabError as error:
        said = error.what.removeprefix(f"{NAME} capture: ")
        if said == error.what:
            raise
        hint = "tcpdump -s 100 -w capture.pcap, or Wireshark, makes one"
        raise WirelabError(said, Where(str(capture)), hint) from None
    return [json.loads(line) for line in lines], "\n".join(heard).splitlines()


def _lines(answer: CaptureAnswer, whose: str, battery: tuple[float, float] | None) -> Iterator[str]:
    energy, radio, device = answer.energy, answer.radio, answer.device
    lasts = format_duration(energy.end_ns - energy.start_ns)
    yield f"{whose} sent {_amount(answer.up)}, got {_amount(answer.down)} in {lasts}"
    yield f"radio   {radio.label}: {radio.title}"
    if device is not None:
        yield f"device  {device.label}: {device.title}"
    parts = ""
    if answer.work is not None:
        parts = f"; the radio {_words(energy.joules)}, the processor {_words(answer.work.joules)}"
    yield f"energy  {_words(answer.joules)}, tail included{parts}"
    yield ""
    shares = ((state, format_duration(seconds * 1e9), _words(joules)) for state, seconds, joules in answer.shares())
    yield columns([("state", "time", "energy [least, most]"), *shares], right=(1,))
    yield ""
    yield (
        f"on air {format_duration(energy.airtime_up_s * 1e9)} up, {format_duration(energy.airtime_down_s * 1e9)} "
        f"down; listening {format_duration(energy.listening_s * 1e9)}; "
        f"tail {format_duration(energy.tail_s * 1e9)}, "
        f"{format_duration(energy.beyond_s * 1e9)} of it beyond the last packet"
    )
    if (day := answer.day) is not None:
        every = format_duration(day.interval_s * 1e9)
        asleep = f", of which the device asleep {_words(day.sleep_j)}" if day.sleep_j.high else ""
        computing = "" if day.cpu_j is None else f", its processor's work {_words(day.cpu_j)}"
        yield f"a day   of it every {every}: {_words(day.total_j)}{asleep}{computing}"
    if answer.life is not None and battery is not None:
        yield f"battery {battery[0]:g} mAh at {battery[1]:g} V: {_life(answer.life)}"


def _amount(packets: Sequence[Packet]) -> str:
    size = format_size(sum(packet.size for packet in packets))
    return f"{len(packets):,} packet{'s' * (len(packets) != 1)} ({size})"


def _words(joules: Range) -> str:
    return joules.said(format_energy)


def _life(days: Range) -> str:
    """`2.1 y [1.4, 3.0]`; in days below two years."""
    factor, unit = (1 / _YEAR_DAYS, "years") if days.typical >= 2 * _YEAR_DAYS else (1.0, "days")
    low, typical, high = (f"{each * factor:.3g}" for each in (days.low, days.typical, days.high))
    return with_bounds(f"{typical} {unit}", low, high)
