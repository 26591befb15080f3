"""`[energy]`: the radio whose energy is computed of the packets that flowed. It changes no trial."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Annotated

from pydantic import AfterValidator, Field

from wirelab.errors import WirelabError
from wirelab.experiment.file.quantities import PositiveDuration, Table, positive, quantity
from wirelab.experiment.file.source import Source
from wirelab.launcher import launched
from wirelab.schema.plan import EnergyRecord
from wirelab.units import charge_mah, voltage_v

Charge = Annotated[float, *quantity(charge_mah, "2400 mAh"), AfterValidator(positive)]
Voltage = Annotated[float, *quantity(voltage_v, "3.7 V"), AfterValidator(positive)]


class EnergyTable(Table):
    """The client's radio, its device, and how often it sends."""

    radio: str = Field(description="A shipped radio (`wirelab list radios`), or a file in the folder of this file.")
    inputs: dict[str, str | int | float] = Field(
        default_factory=dict,
        description="Inputs of the radio that differ from its defaults (`wirelab describe radio NAME`).",
        examples=[{"inactivity": "5 s"}],
    )
    device: str | None = Field(
        default=None, description="The device around the radio, which sleeps between messages (`wirelab list devices`)."
    )
    measured_on_device: bool = Field(
        default=False,
        description="Wirelab runs on that device, so the CPU time of its client counts as energy of its processor.",
    )
    interval: PositiveDuration | None = Field(
        default=None, description="Time from one message to the next, for the energy of a day."
    )
    battery: Charge | None = Field(
        default=None, description="Capacity of the battery, for its life. Needs `voltage` and `interval`."
    )
    voltage: Voltage | None = Field(default=None, description="Mean voltage of the battery. Needs `battery`.")

    def record(self) -> EnergyRecord:
        """As a plan has it: files of the user's own by their names, for a plan holds on any machine."""
        return EnergyRecord(
            radio=_name(self.radio),
            inputs=self.inputs,
            device=None if self.device is None else _name(self.device),
            measured_on_device=self.measured_on_device,
            interval_ns=self.interval,
            battery_mah=self.battery,
            battery_v=self.voltage,
        )

    def files(self, folder: Path) -> dict[str, Path]:
        """Those of the user's own, which are sought in `folder`, by their names."""
        named = (each for each in (self.radio, self.device) if each is not None and is_file(each))
        return {_name(each): folder / each for each in named}


def is_file(name: str) -> bool:
    """Whether a radio or device is a file of the user's own."""
    return name.endswith(".toml")


def check_energy(source: Source, table: EnergyTable | None) -> Iterable[WirelabError]:
    """What one key needs of another."""
    if table is None:
        return
    both = {PurePath(each) for each in (table.radio, table.device) if each is not None and is_file(each)}
    if len({each.name for each in both}) < len(both):
        what = f"radio and device are both named {_name(table.radio)}: a campaign keeps one file of a name"
        yield WirelabError(what, source.where(("energy", "device")), "rename one")
    if table.measured_on_device and table.device is None:
        what = "CPU time needs the power of a device, and none is given"
        hint = f'device = "raspberry-pi-3" ({launched("list devices")})'
        yield WirelabError(what, source.where(("energy", "measured-on-device")), hint)
    # What is written and wrong is reported by itself.
    written = source.document.get("energy", {})
    if table.battery is not None and "voltage" not in written:
        yield WirelabError("no voltage of the battery", source.where(("energy", "battery")), 'voltage = "3.7 V"')
    if table.voltage is not None and "battery" not in written:
        yield WirelabError("no battery of this voltage", source.where(("energy", "voltage")), 'battery = "2400 mAh"')
    if table.battery is not None and "interval" not in written:
        what = "battery life depends on the interval between messages, and none is given"
        yield WirelabError(what, source.where(("energy", "battery")), 'interval = "15 min"')


def _name(name: str) -> str:
    return PurePath(name).name if is_file(name) else name
