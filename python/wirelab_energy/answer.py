"""What a client's packets cost, as one answer: the radio, its device's work, a day, a battery. Prints nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wirelab_energy.capture import ClientPackets
from wirelab_energy.day import DAY_S, DayEnergy, battery_life, per_day
from wirelab_energy.device import Device
from wirelab_energy.model import RadioEnergy, radio_energy
from wirelab_energy.packet import Packet
from wirelab_energy.processor import NO_CPU, PROCESSOR, processor_notes
from wirelab_energy.radio import Radio
from wirelab_energy.range import Range
from wirelab_energy.units import format_duration

_LATE = 0.01
"""Share of the capture's time that its last packet may wait for the others before it must be said."""


@dataclass(frozen=True)
class DeviceWork:
    """CPU time that was measured on a device."""

    device: Device
    seconds: float

    @property
    def joules(self) -> Range:
        """What it takes beyond sleep."""
        return self.device.cpu_joules(self.seconds)


@dataclass(frozen=True)
class CaptureAnswer:
    """What is known of a capture. `day` needs an interval, and `life` (days) a battery too."""

    radio: Radio
    device: Device | None
    client: ClientPackets
    energy: RadioEnergy
    work: DeviceWork | None
    day: DayEnergy | None
    life: Range | None

    @classmethod
    def of(  # noqa: PLR0913, PLR0917 (what may be known)
        cls,
        client: ClientPackets,
        radio: Radio,
        device: Device | None = None,
        cpu_time_s: float | None = None,
        interval_s: float | None = None,
        battery: tuple[float, float] | None = None,
    ) -> CaptureAnswer:
        """`battery` is its capacity (mAh) and mean voltage. Raises `WirelabError` if the interval is shorter than the
        message.
        """
        packets = client.packets
        energy = radio_energy(radio, packets, packets[0].time_ns, packets[-1].time_ns)
        work = None if cpu_time_s is None or device is None else DeviceWork(device, cpu_time_s)
        cpu_j = None if work is None else work.joules
        day = None if interval_s is None else per_day(radio, device, energy, interval_s, cpu_j)
        life = None if day is None or battery is None else battery_life(day, *battery)
        return cls(radio, device, client, energy, work, day, life)

    @property
    def up(self) -> list[Packet]:
        """What the client sent."""
        return [each for each in self.client.packets if each.up]

    @property
    def down(self) -> list[Packet]:
        """What it got."""
        return [each for each in self.client.packets if not each.up]

    @property
    def joules(self) -> Range:
        """Of the radio and, if its CPU time is known, the processor."""
        return self.energy.joules if self.work is None else self.energy.joules + self.work.joules

    def shares(self) -> Iterator[tuple[str, float, Range]]:
        """States of the radio, then the processor's work, with seconds and joules."""
        for state, share in self.energy.states.items():
            yield state, share.seconds, share.joules
        if self.work is not None:
            yield PROCESSOR, self.work.seconds, self.work.joules

    def notes(self) -> Iterator[str]:
        """What is to be known of the numbers."""
        yield from self.client.notes
        radio, energy = self.radio, self.energy
        lasts_ns = energy.end_ns - energy.start_ns
        if not radio.validated:
            yield f"unvalidated: {radio.name} reproduces no published figure of traffic that it was not set from"
        if energy.late_s > _LATE * lasts_ns / 1e9:
            over_ns = energy.settled_ns - energy.tail_s * 1e9
            yield (
                f"the radio is slower than the capture: it would have ended {format_duration(over_ns - energy.end_ns)} "
                "later"
            )
        yield "Ranges are those of the model's constants, all at their ends together."
        if self.work is not None:
            if self.work.seconds > lasts_ns / 1e9:
                yield (
                    f"the CPU time ({format_duration(self.work.seconds * 1e9)}) is longer than the capture "
                    f"({format_duration(lasts_ns)}): it has more in it than one core can do for this traffic"
                )
            yield from processor_notes(radio, self.work.device, "the CPU time that was given")
        elif self.device is not None:
            yield NO_CPU

    def as_dict(self) -> dict[str, Any]:
        """Joules and seconds, with bounds."""
        energy, day = self.energy, self.day
        return {
            "start_ns": energy.start_ns, "end_ns": energy.end_ns,
            "packets": {"up": len(self.up), "down": len(self.down)},
            "bytes": {"up": sum(each.size for each in self.up), "down": sum(each.size for each in self.down)},
            "cpu_time_s": None if self.work is None else self.work.seconds,
            "joules": _bounds(self.joules),
            "states": {state: {"seconds": seconds, **_bounds(joules)} for state, seconds, joules in self.shares()},
            "airtime_up_s": energy.airtime_up_s, "airtime_down_s": energy.airtime_down_s,
            "listening_s": energy.listening_s, "tail_s": energy.tail_s, "beyond_s": energy.beyond_s,
            "day": None if day is None else {
                "radio_j": _bounds(day.radio_j), "sleep_j": _bounds(day.sleep_j),
                "cpu_j": None if day.cpu_j is None else _bounds(day.cpu_j),
                "total_j": _bounds(day.total_j),
            },
            "battery_days": None if self.life is None else _bounds(self.life),
        }  # fmt: skip

    def as_csv(self) -> str:
        """A row for each state, one for the processor if its CPU time is given, and one for all; then those of the day
        and of the battery's life, if they are asked for."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        joules, days = ([f"{bound}_{unit}" for bound in ("low", "typical", "high")] for unit in ("j", "days"))
        writer.writerow(["state", "seconds", *joules, "radio", "validated", *days])
        validated = self._validated()
        end_s = (max(self.energy.settled_ns, self.energy.end_ns) - self.energy.start_ns) / 1e9
        for state, seconds, taken in [*self.shares(), ("total", end_s, self.joules), *self._day_rows()]:
            known = str(validated.get(state, self.radio.validated)).lower()
            writer.writerow([state, f"{seconds:.9g}", *_cells(taken), self.radio.name, known, "", "", ""])
        if self.life is not None:
            known = str(validated["battery"]).lower()
            writer.writerow(["battery", "", "", "", "", self.radio.name, known, *_cells(self.life)])
        return text.getvalue()

    def _validated(self) -> dict[str, bool]:
        """By rows that are not of the radio alone."""
        radio, device = self.radio.validated, self.device is None or self.device.validated
        return {
            PROCESSOR: device, "total": radio and (self.work is None or device), "day-sleep": device,
            "day-processor": device, "day-total": radio and device, "battery": radio and device,
        }  # fmt: skip

    def _day_rows(self) -> Iterator[tuple[str, float, Range]]:
        """The parts of a day, and their sum."""
        day = self.day
        if day is None:
            return
        yield "day-radio", DAY_S, day.radio_j
        if self.device is not None:
            yield "day-sleep", DAY_S, day.sleep_j
        if day.cpu_j is not None and self.work is not None:
            yield "day-processor", self.work.seconds * DAY_S / day.interval_s, day.cpu_j
        yield "day-total", DAY_S, day.total_j


def _cells(value: Range) -> list[str]:
    return [f"{each:.9g}" for each in _bounds(value).values()]


def _bounds(value: Range) -> dict[str, float]:
    return {"low": value.low, "typical": value.typical, "high": value.high}
