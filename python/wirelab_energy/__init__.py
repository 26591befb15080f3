"""Energy of a client's radio and device, from packets with times and sizes. Pure; knows no protocol and no experiment.

A radio (`data/radios/`) is a state machine with constants, each with its source; `radio_energy` feeds it
packets, `partition` cuts that into parts, `per_day` repeats a message, `battery_life` divides a battery by the day.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wirelab_energy.day import DayEnergy, battery_life, per_day, repeated
    from wirelab_energy.device import Device, device_names, load_device
    from wirelab_energy.model import RadioEnergy, Segment, StateShare, partition, radio_energy
    from wirelab_energy.packet import Packet
    from wirelab_energy.radio import Radio, load_radio, radio_names
    from wirelab_energy.range import Range

__all__ = [
    "DayEnergy",
    "Device",
    "Packet",
    "Radio",
    "RadioEnergy",
    "Range",
    "Segment",
    "StateShare",
    "battery_life",
    "device_names",
    "load_device",
    "load_radio",
    "partition",
    "per_day",
    "radio_energy",
    "radio_names",
    "repeated",
]

_HOMES = {
    "day": ("DayEnergy", "battery_life", "per_day", "repeated"),
    "device": ("Device", "device_names", "load_device"),
    "model": ("RadioEnergy", "Segment", "StateShare", "partition", "radio_energy"),
    "packet": ("Packet",),
    "radio": ("Radio", "load_radio", "radio_names"),
    "range": ("Range",),
}
"""The module of each name, imported when the name is used: `wirelab` starts with the errors and units alone."""


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
