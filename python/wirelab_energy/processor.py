"""The energy of the client's processor, from CPU time measured on the device itself."""

from __future__ import annotations

from collections.abc import Iterator

from wirelab_energy.device import BEYOND, Device
from wirelab_energy.radio import Radio

PROCESSOR = "processor"
"""The processor's states, in addition to the radio's."""
NO_CPU = (
    "CPU time on this machine says nothing of another device's processor, so no energy of one is in any of these "
    "numbers: radio and sleep alone."
)


def processor_notes(radio: Radio, device: Device, measured: str) -> Iterator[str]:
    """Notes on the processor's energy, which follows from `measured` CPU time."""
    yield (
        f"The processor's energy is not measured: it is {measured}, times what {device.label} takes beyond sleep while "
        "it computes."
    )
    if device.computing.path == BEYOND and device.sleep.value.low < device.sleep.value.high:
        yield (
            f"{device.name} has what computing takes beyond sleep by itself ({device.computing.written}): the range "
            "of its sleep is not in the processor's energy."
        )
    if radio.device == device.name:
        yield (
            f"{radio.name} and {device.name} are one chip: what its processor takes may be in the radio's currents "
            "already, and then counts twice."
        )
