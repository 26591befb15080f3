"""The energy of a capture, for people, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wirelab.cli.table import columns
from wirelab.errors import RunError, Where, WirelabError
from wirelab.launcher import launched
from wirelab.units import format_duration, format_energy, format_size, with_bounds

if TYPE_CHECKING:
    from wirelab.metrics.energy_settings import Settings
    from wirelab.schema.plan import EnergyRecord
    from wirelab_energy import DayEnergy, Device, Packet, RadioEnergy, Range
    from wirelab_energy.capture import ClientPackets

_YEAR_DAYS = 365.25
_LATE = 0.01
"""Share of the capture's time that its last packet may wait for the others before it must be said."""


def tell_capture(capture: Path, client: str, record: EnergyRecord, cpu_time_ns: int | None, format_: str) -> None:
    """Print what the packets of one client cost, and the CPU time that its device took for them."""
    from wirelab.metrics.energy_settings import Settings
    from wirelab_energy import battery_life, per_day, radio_energy
    from wirelab_energy.capture import client_packets

    settings = Settings.of(record)
    rows, remarks = _read(capture)
    left_out = [words for words in remarks if "left out" in words]
    mine = client_packets(rows, client, Where(str(capture)), left_out)
    packets = mine.packets
    energy = radio_energy(settings.radio, packets, packets[0].time_ns, packets[-1].time_ns)
    interval_s = settings.interval_s
    work = None
    if cpu_time_ns is not None and settings.device is not None:
        work = _Work(settings.device, cpu_time_ns / 1e9)
    cpu_j = None if work is None else work.joules
    day = None if interval_s is None else per_day(settings.radio, settings.device, energy, interval_s, cpu_j)
    life = None
    if day is not None and record.battery_mah is not None and record.battery_v is not None:
        life = battery_life(day, record.battery_mah, record.battery_v)
    answer = _Answer(capture, client, settings, mine, energy, work, day, life)
    match format_:
        case "json":
            click.echo(json.dumps(answer.as_dict() | {"notes": [*remarks, *answer.notes()]}, ensure_ascii=False))
        case "csv":
            click.echo(answer.as_csv(), nl=False)
        case _:
            click.echo("\n".join(answer.lines()))
    if format_ != "json":
        for words in (*remarks, *answer.notes()):
            click.echo(words, err=True)


def _read(capture: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The capture's packets, and what is missing from it."""
    from wirelab.agent import NAME, ask, find_agent

    heard: list[str] = []
    try:
        lines = ask(find_agent(), ["capture", str(capture)], heard=heard.append).splitlines()
    except RunError as error:
        said = error.what.removeprefix(f"{NAME} capture: ")
        if said == error.what:
            raise
        hint = "tcpdump -s 100 -w capture.pcap, or Wireshark, makes one"
        raise WirelabError(said, Where(str(capture)), hint) from None
    return [json.loads(line) for line in lines], "\n".join(heard).splitlines()


NOT_OF_A_CAPTURE = {"notes", "schema_version"}
"""Keys of `energy.json` that are of its campaign."""


@dataclass(frozen=True)
class _Work:
    """CPU time that was measured on a device."""

    device: Device
    seconds: float

    @property
    def joules(self) -> Range:
        """What it takes beyond sleep."""
        return self.device.cpu_joules(self.seconds)


class _Answer:
    """What is known of a capture, in each form."""

    def __init__(  # noqa: PLR0913, PLR0917 (what is known)
        self,
        capture: Path,
        client: str,
        settings: Settings,
        mine: ClientPackets,
        energy: RadioEnergy,
        work: _Work | None,
        day: DayEnergy | None,
        life: Range | None,
    ) -> None:
        self._capture, self._client, self._settings = capture, client, settings
        self._mine, self._energy, self._work, self._day, self._life = mine, energy, work, day, life

    def lines(self) -> Iterator[str]:
        """For people."""
        energy, radio, device = self._energy, self._settings.radio, self._settings.device
        up, down = self._ways()
        seconds = (energy.end_ns - energy.start_ns) / 1e9
        yield (
            f"{self._capture.name}: {self._client} sent {_amount(up)}, got {_amount(down)} in "
            f"{format_duration(seconds * 1e9)}"
        )
        yield f"radio   {radio.label}: {radio.title}"
        if device is not None:
            yield f"device  {device.label}: {device.title}"
        parts = ""
        if self._work is not None:
            parts = f"; the radio {_words(energy.joules)}, the processor {_words(self._work.joules)}"
        yield f"energy  {_words(self._joules())}, tail included{parts}"
        yield ""
        yield columns(
            [
                ("state", "time", "energy [least, most]"),
                *((state, format_duration(seconds * 1e9), _words(joules)) for state, seconds, joules in self._shares()),
            ],
            right=(1,),
        )
        yield ""
        yield (
            f"on air {format_duration(energy.airtime_up_s * 1e9)} up, {format_duration(energy.airtime_down_s * 1e9)} "
            f"down; listening {format_duration(energy.listening_s * 1e9)}; "
            f"tail {format_duration(energy.tail_s * 1e9)}, "
            f"{format_duration(energy.beyond_s * 1e9)} of it beyond the last packet"
        )
        if self._day is not None:
            every = format_duration(self._day.interval_s * 1e9)
            asleep = f", of which the device asleep {_words(self._day.sleep_j)}" if self._day.sleep_j.high else ""
            computing = "" if self._day.cpu_j is None else f", its processor's work {_words(self._day.cpu_j)}"
            yield f"a day   of it every {every}: {_words(self._day.total_j)}{asleep}{computing}"
        record = self._settings.record
        if self._life is not None:
            yield f"battery {record.battery_mah:g} mAh at {record.battery_v:g} V: {_life(self._life)}"

    def notes(self) -> Iterator[str]:
        """What is to be known of the numbers."""
        from wirelab.metrics.processor import NO_CPU, processor_notes

        yield from self._mine.notes
        radio = self._settings.radio
        if not radio.validated:
            yield f"unvalidated: {radio.name} reproduces no published figure of traffic that it was not set from"
        energy = self._energy
        if energy.late_s > _LATE * (energy.end_ns - energy.start_ns) / 1e9:
            over_ns = energy.settled_ns - energy.tail_s * 1e9
            yield (
                f"the radio is slower than the capture: it would have ended {format_duration(over_ns - energy.end_ns)} "
                "later"
            )
        yield "Ranges are those of the model's constants, all at their ends together."
        if self._work is not None:
            lasts_s = (energy.end_ns - energy.start_ns) / 1e9
            if self._work.seconds > lasts_s:
                yield (
                    f"the CPU time ({format_duration(self._work.seconds * 1e9)}) is longer than the capture "
                    f"({format_duration(lasts_s * 1e9)}): it has more in it than one core can do for this traffic"
                )
            yield from processor_notes(radio, self._work.device, "the CPU time that was given")
        elif self._settings.device is not None:
            yield NO_CPU
        yield f"Sources: {launched(f'describe radio {radio.name}')}"

    def as_dict(self) -> dict[str, Any]:
        """Joules and seconds, with bounds."""
        energy, (up, down) = self._energy, self._ways()
        return {
            "capture": str(self._capture), "client": self._client,
            "start_ns": energy.start_ns, "end_ns": energy.end_ns,
            "packets": {"up": len(up), "down": len(down)},
            "bytes": {"up": sum(each.size for each in up), "down": sum(each.size for each in down)},
            "cpu_time_s": None if self._work is None else self._work.seconds,
            "joules": _bounds(self._joules()),
            "states": {state: {"seconds": seconds, **_bounds(joules)} for state, seconds, joules in self._shares()},
            "airtime_up_s": energy.airtime_up_s, "airtime_down_s": energy.airtime_down_s,
            "listening_s": energy.listening_s, "tail_s": energy.tail_s, "beyond_s": energy.beyond_s,
            "day": None if self._day is None else {
                "radio_j": _bounds(self._day.radio_j), "sleep_j": _bounds(self._day.sleep_j),
                "cpu_j": None if self._day.cpu_j is None else _bounds(self._day.cpu_j),
                "total_j": _bounds(self._day.total_j),
            },
            "battery_days": None if self._life is None else _bounds(self._life),
            **{key: value for key, value in self._settings.as_record([]).items() if key not in NOT_OF_A_CAPTURE},
        }  # fmt: skip

    def as_csv(self) -> str:
        """A row for each state, one for the processor if its CPU time is given, and one for all; then those of the day
        and of the battery's life, if they are asked for."""
        from wirelab.metrics.processor import PROCESSOR

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        joules, days = ([f"{bound}_{unit}" for bound in ("low", "typical", "high")] for unit in ("j", "days"))
        writer.writerow(["state", "seconds", *joules, "radio", "validated", *days])
        radio, device = self._settings.radio, self._settings.device
        around = device is None or device.validated
        validated = {
            PROCESSOR: around, "total": radio.validated and (self._work is None or around),
            "day-sleep": around, "day-processor": around, "day-total": radio.validated and around,
            "battery": radio.validated and around,
        }  # fmt: skip
        end_s = (max(self._energy.settled_ns, self._energy.end_ns) - self._energy.start_ns) / 1e9
        for state, seconds, taken in [*self._shares(), ("total", end_s, self._joules()), *self._day_rows()]:
            held = str(validated.get(state, radio.validated)).lower()
            writer.writerow([state, f"{seconds:.9g}", *_cells(taken), radio.name, held, "", "", ""])
        if self._life is not None:
            held = str(validated["battery"]).lower()
            writer.writerow(["battery", "", "", "", "", radio.name, held, *_cells(self._life)])
        return text.getvalue()

    def _day_rows(self) -> Iterator[tuple[str, float, Range]]:
        """The parts of a day, and their sum."""
        from wirelab_energy.day import DAY_S

        day = self._day
        if day is None:
            return
        yield "day-radio", DAY_S, day.radio_j
        if self._settings.device is not None:
            yield "day-sleep", DAY_S, day.sleep_j
        if day.cpu_j is not None and self._work is not None:
            yield "day-processor", self._work.seconds * DAY_S / day.interval_s, day.cpu_j
        yield "day-total", DAY_S, day.total_j

    def _shares(self) -> Iterator[tuple[str, float, Range]]:
        """States of the radio, then the processor's work, with seconds and joules."""
        from wirelab.metrics.processor import PROCESSOR

        for state, share in self._energy.states.items():
            yield state, share.seconds, share.joules
        if self._work is not None:
            yield PROCESSOR, self._work.seconds, self._work.joules

    def _joules(self) -> Range:
        return self._energy.joules if self._work is None else self._energy.joules + self._work.joules

    def _ways(self) -> tuple[list[Packet], list[Packet]]:
        packets = self._mine.packets
        return [each for each in packets if each.up], [each for each in packets if not each.up]


def _amount(packets: list[Packet]) -> str:
    size = format_size(sum(packet.size for packet in packets))
    return f"{len(packets):,} packet{'s' * (len(packets) != 1)} ({size})"


def _words(joules: Range) -> str:
    return joules.said(format_energy)


def _life(days: Range) -> str:
    """`2.1 y [1.4, 3.0]`; in days below two years."""
    factor, unit = (1 / _YEAR_DAYS, "years") if days.typical >= 2 * _YEAR_DAYS else (1.0, "days")
    low, typical, high = (f"{each * factor:.3g}" for each in (days.low, days.typical, days.high))
    return with_bounds(f"{typical} {unit}", low, high)


def _cells(value: Range) -> list[str]:
    return [f"{each:.9g}" for each in _bounds(value).values()]


def _bounds(value: Range) -> dict[str, float]:
    return {"low": value.low, "typical": value.typical, "high": value.high}
