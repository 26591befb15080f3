"""`[energy]`: the radios whose energy is computed of the packets that flowed. They change no trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from wirelab.errors import WirelabError, did_you_mean
from wirelab.experiment.file.quantities import Table, inside, positive
from wirelab.experiment.file.source import Source
from wirelab.experiment.library import profiles
from wirelab.launcher import launched
from wirelab.schema.plan import EnergyRecord, LinkRadio, is_own_file
from wirelab.units import UnitError, charge_mah, voltage_v

Charge = Annotated[float, *positive(charge_mah, "2400 mAh")]
Voltage = Annotated[float, *positive(voltage_v, "3.7 V")]
INTERVAL = '[workload] interval = "15 min"'


class LinkRadioTable(Table):
    """The client's radio on one link."""

    radio: str = Field(description="A shipped radio (`wirelab list radios`), or a file in the folder of this file.")
    inputs: dict[str, str | int | float] = Field(
        default_factory=dict, description="Inputs of this radio that differ from its defaults."
    )
    device: str | None = Field(default=None, description="The device around this radio. By default that of `[energy]`.")


def read_radio(value: object) -> object:
    """`"nrf9160-nbiot"`, or a table with its inputs and its device."""
    if isinstance(value, str):
        return {"radio": value}
    if isinstance(value, Mapping):
        return value
    raise UnitError("is not a radio", hint='write "nrf9160-nbiot" or { radio = "nrf9160-nbiot", device = "nrf9160" }')


class _RadioSchema:
    """The schema for editors, made when it is asked for."""

    def __get_pydantic_json_schema__(self, _core: object, _handler: object) -> dict[str, object]:
        return {"anyOf": [{"type": "string"}, LinkRadioTable.model_json_schema(by_alias=True)]}


WrittenRadio = Annotated[LinkRadioTable, BeforeValidator(read_radio), _RadioSchema()]


class EnergyTable(Table):
    """The client's radio, its device and its battery."""

    radio: str | None = Field(
        default=None,
        description="A shipped radio (`wirelab list radios`), or a file in the folder of this file, of every link that "
        "`radios` does not name.",
    )
    inputs: dict[str, str | int | float] = Field(
        default_factory=dict,
        description="Inputs of `radio` that differ from its defaults (`wirelab describe radio NAME`).",
        examples=[{"inactivity": "5 s"}],
    )
    radios: dict[str, WrittenRadio] = Field(
        default_factory=dict,
        description="Radios by the name of the client's link: a radio, or a table with `radio`, `inputs` and `device`.",
        examples=[{"nb-iot-psm": "nrf9160-nbiot"}],
    )
    device: str | None = Field(
        default=None, description="The device around the radio, which sleeps between messages (`wirelab list devices`)."
    )
    measured_on_device: bool = Field(
        default=False,
        description="Wirelab runs on that device, so the CPU time of its client counts as energy of its processor.",
    )
    battery: Charge | None = Field(
        default=None,
        description="Capacity of the battery, for its life. Needs `voltage`, and `interval` of the workload.",
    )
    voltage: Voltage | None = Field(default=None, description="Mean voltage of the battery. Needs `battery`.")

    @model_validator(mode="before")
    @classmethod
    def _interval_is_of_the_workload(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and "interval" in value:
            written = value["interval"]
            hint = INTERVAL.replace("15 min", written) if isinstance(written, str) else INTERVAL
            raise inside("interval", written, UnitError("is the workload's", hint))
        return value

    def record(self) -> EnergyRecord:
        """As a plan has it: files of the user's own by their names, for a plan holds on any machine."""
        return EnergyRecord(
            radio=_name(self.radio),
            inputs=self.inputs,
            device=_name(self.device),
            radios={
                link: LinkRadio(
                    radio=_of_campaign(each.radio), inputs=each.inputs, device=_name(each.device or self.device)
                )
                for link, each in self.radios.items()
            },
            measured_on_device=self.measured_on_device,
            battery_mah=self.battery,
            battery_v=self.voltage,
        )

    def files(self, folder: Path) -> dict[str, Path]:
        """Those of the user's own, which are sought in `folder`, by their names."""
        return {PurePath(path).name: folder / path for path in _own_files(self).values()}


def check_energy(source: Source, table: EnergyTable | None, links: Iterable[str]) -> Iterator[WirelabError]:
    """What one key needs of another. `links` are those that the experiment names."""
    if table is None:
        return
    # What is written and wrong is reported by itself.
    written = source.document.get("energy", {})
    if not isinstance(written, dict):
        return
    if "radio" not in written and "radios" not in written:
        yield WirelabError("is missing", source.where(("energy", "radio")), launched("list radios"))
    yield from _same_names(source, table)
    if table.inputs and "radio" not in written:
        what = "no radio with these inputs: those of a link's radio stand in its table"
        yield WirelabError(what, source.where(("energy", "inputs")), 'radios.LINK = { radio = "NAME", inputs = {} }')
    known = {*links, *profiles()}
    for link in table.radios:
        if link not in known:
            hint = did_you_mean(link, known, launched("list links"))
            yield WirelabError("no such link", source.where(("energy", "radios", link)), hint)
    has_device = table.device is not None or any(each.device is not None for each in table.radios.values())
    if table.measured_on_device and not has_device:
        what = "CPU time needs the power of a device, and none is given"
        hint = f'device = "raspberry-pi-3" ({launched("list devices")})'
        yield WirelabError(what, source.where(("energy", "measured-on-device")), hint)
    if table.battery is not None and "voltage" not in written:
        yield WirelabError("no voltage of the battery", source.where(("energy", "battery")), 'voltage = "3.7 V"')
    if table.voltage is not None and "battery" not in written:
        yield WirelabError("no battery of this voltage", source.where(("energy", "voltage")), 'battery = "2400 mAh"')


def check_battery(source: Source, table: EnergyTable | None, gaps_ns: Sequence[float | None]) -> Iterator[WirelabError]:
    """A battery, and no time between the messages of any scenario. `gaps_ns` has each one's."""
    if table is None or table.battery is None or not gaps_ns or any(gap_ns is not None for gap_ns in gaps_ns):
        return
    what = "battery life depends on the interval between messages, and exchanges follow one another"
    yield WirelabError(what, source.where(("energy", "battery")), INTERVAL)


def _same_names(source: Source, table: EnergyTable) -> Iterator[WirelabError]:
    """Two files of one name: a campaign keeps one."""
    first: dict[str, tuple[str, PurePath]] = {}
    for key, written in _own_files(table).items():
        name, path = ".".join(key), PurePath(written)
        other, known = first.setdefault(path.name, (name, path))
        if known != path:
            what = f"{other} and {name} are both named {path.name}: a campaign keeps one file of a name"
            yield WirelabError(what, source.where(("energy", *key)), "rename one")


def _own_files(table: EnergyTable) -> dict[tuple[str, ...], str]:
    """The files of the user's own as written, by their keys."""
    named: dict[tuple[str, ...], str | None] = {("radio",): table.radio, ("device",): table.device}
    for link, each in table.radios.items():
        named |= {("radios", link, "radio"): each.radio, ("radios", link, "device"): each.device}
    return {key: name for key, name in named.items() if name is not None and is_own_file(name)}


def _name(name: str | None) -> str | None:
    return None if name is None else _of_campaign(name)


def _of_campaign(name: str) -> str:
    """A file of the user's own by its name alone: the campaign has a copy."""
    return PurePath(name).name if is_own_file(name) else name
