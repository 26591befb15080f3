"""Energy of a client's radio and device, from packets with times and sizes. Pure; knows no protocol's name.

A radio (`data/profiles/radios/`) is a state machine with constants, each with its source; `radio_energy` feeds it
packets, `per_day` repeats a message, `battery_life` divides a battery by the day.
"""

from wirelab.energy.day import DayEnergy, battery_life, per_day
from wirelab.energy.device import Device, device_names, load_device
from wirelab.energy.model import RadioEnergy, Segment, StateShare, radio_energy
from wirelab.energy.packet import Packet
from wirelab.energy.radio import Radio, load_radio, radio_names
from wirelab.energy.range import Range

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
    "per_day",
    "radio_energy",
    "radio_names",
]
