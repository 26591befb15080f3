"""A day of one message after another, and how long a battery lasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wirelab_energy.device import Device
from wirelab_energy.model import RadioEnergy, steady_energy
from wirelab_energy.radio import Radio
from wirelab_energy.range import Range

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class DayEnergy:
    """Joules of 24 h with a message every `interval_s`: of the radio (by state too), of the device's sleep, and of its
    processor beyond that, which is None where its CPU time is not known."""

    interval_s: float
    radio_j: Range
    states_j: Mapping[str, Range]
    sleep_j: Range
    cpu_j: Range | None

    @property
    def total_j(self) -> Range:
        """Radio, sleep and, where it is known, processor."""
        return Range.total([self.radio_j, self.sleep_j, *([] if self.cpu_j is None else [self.cpu_j])])


def per_day(
    radio: Radio, device: Device | None, message: RadioEnergy, interval_s: float, cpu_j: Range | None = None
) -> DayEnergy:
    """A day of such messages. Timers run on as they do: a tail ends where the next message begins, which then finds the
    radio as the last one left it. Without a device there is its radio alone. `cpu_j` is of one message."""
    return repeated(radio, device, steady_energy(radio, message, interval_s), interval_s, cpu_j)


def repeated(
    radio: Radio, device: Device | None, interval: RadioEnergy, interval_s: float, cpu_j: Range | None = None
) -> DayEnergy:
    """A day of such intervals, one after another: each has a message and the time behind it."""
    messages = DAY_S / interval_s
    shared = device is None or device.name == radio.device
    return DayEnergy(
        interval_s,
        interval.joules * messages,
        {state: share.joules * messages for state, share in interval.states.items()},
        Range.exact(0.0) if shared or device is None else device.sleep.value * DAY_S,
        None if cpu_j is None else cpu_j * messages,
    )


def battery_life(day: DayEnergy, capacity_mah: float, voltage: float) -> Range:
    """Days that a battery of this capacity and mean voltage lasts, its self-discharge and the loss of its regulator
    left out."""
    return day.total_j.divides(capacity_mah * 3.6 * voltage)
