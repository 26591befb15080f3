"""The radio and the device of `[energy]`, and how often a message is sent. Computes nothing of packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import Where, WirelabError
from wirelab.schema.estimates import ENERGY_VERSION, Battery, Constant, DeviceRecord, EnergyModel, RadioRecord
from wirelab.schema.plan import EnergyRecord
from wirelab.schema.replaced import replace_file
from wirelab.toml import read_text
from wirelab_energy.device import Device, load_device
from wirelab_energy.radio import Radio, load_radio


@dataclass(frozen=True)
class Settings:
    """A radio, and what its messages are a day's of."""

    record: EnergyRecord
    radio: Radio
    device: Device | None

    @classmethod
    def of(cls, record: EnergyRecord, own: Mapping[str, Path] | None = None) -> Settings:
        """Files of the user's own are where `own` has them. Raises `WirelabError` if there is no such radio, input or
        device.
        """
        places = own or {}
        radio = load_radio(str(places.get(record.radio, record.radio)))
        if record.inputs:
            radio = radio.with_inputs(record.inputs)
        device = None if record.device is None else load_device(str(places.get(record.device, record.device)))
        return cls(record, radio, device)

    @classmethod
    def of_campaign(cls, record: EnergyRecord, campaign: Path) -> Settings:
        """The same with the campaign's copies of files."""
        names = [name for name in (record.radio, record.device) if name is not None and name.endswith(".toml")]
        return cls.of(record, {name: campaign / name for name in names})

    @property
    def interval_s(self) -> float | None:
        return None if self.record.interval_ns is None else self.record.interval_ns / 1e9

    @property
    def processor(self) -> Device | None:
        """The device of the measured CPU time; None if it was measured elsewhere."""
        return self.device if self.record.measured_on_device else None

    def as_record(self, notes: Sequence[str]) -> EnergyModel:
        """The contents of `energy.json`."""
        radio, record = self.radio, self.record
        of_radio: RadioRecord = {
            "name": radio.name, "title": radio.title, "validated": radio.validated,
            "inputs": {name: each.written for name, each in radio.inputs.items()}, "sources": _sources(radio),
        }  # fmt: skip
        device: DeviceRecord | None = None
        if self.device is not None:
            device = {
                "name": self.device.name, "title": self.device.title, "validated": self.device.validated,
                "sources": _sources(self.device),
            }  # fmt: skip
        battery: Battery | None = None
        if record.battery_mah is not None and record.battery_v is not None:
            battery = {"capacity_mah": record.battery_mah, "voltage_v": record.battery_v}
        return {
            "schema_version": ENERGY_VERSION,
            "radio": of_radio, "device": device, "measured_on_device": record.measured_on_device,
            "interval_s": self.interval_s, "battery": battery, "notes": list(notes),
        }  # fmt: skip


def with_kept_files(record: EnergyRecord, campaign: Path) -> EnergyRecord:
    """The same with copies of the user's own files in the campaign, by their names, which must differ."""
    own = {name: Path(name) for name in (record.radio, record.device) if name is not None and name.endswith(".toml")}
    if len({path.name for path in own.values()}) < len(own):
        raise WirelabError(f"radio and device are both named {Path(record.radio).name}", "--device", "rename one")
    for name, path in own.items():
        text = read_text(path, Where(name))
        replace_file(campaign / path.name, text)
    renamed = {name: own[name].name if name in own else name for name in (record.radio, record.device) if name}
    device = None if record.device is None else renamed[record.device]
    return record.model_copy(update={"radio": renamed[record.radio], "device": device})


def _sources(of: Radio | Device) -> list[Constant]:
    return [{"constant": each.path, "value": each.written, "source": each.source} for each in of.cited()]
