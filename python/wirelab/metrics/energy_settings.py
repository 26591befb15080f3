"""The radios and devices of `[energy]`, by link. Computes nothing of packets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import Where, WirelabError
from wirelab.schema.estimates import (
    ENERGY_VERSION,
    Battery,
    Constant,
    DeviceRecord,
    EnergyModel,
    LinkRadioRecord,
    RadioRecord,
)
from wirelab.schema.plan import EnergyRecord, LinkRadio, is_own_file
from wirelab.schema.replaced import replace_file
from wirelab.toml import read_text
from wirelab_energy.device import Device, load_device
from wirelab_energy.radio import Radio, load_radio


@dataclass(frozen=True)
class Equipment:
    """What a client has: a radio, and the device around it if that is known.

    `measured_on_device`: CPU time of the client was measured on this device.
    """

    radio: Radio
    device: Device | None = None
    measured_on_device: bool = False

    @property
    def processor(self) -> Device | None:
        """The device of the measured CPU time; None if it was measured elsewhere."""
        return self.device if self.measured_on_device else None


@dataclass(frozen=True)
class Settings:
    """The radios of a campaign's clients, by link, and their battery."""

    record: EnergyRecord
    common: Equipment | None
    """Of every link that has none of its own."""
    own: Mapping[str, Equipment]
    """By the name of the client's link."""

    @classmethod
    def of(cls, record: EnergyRecord, files: Mapping[str, Path] | None = None) -> Settings:
        """Files of the user's own are where `files` has them. Raises `WirelabError` if there is no such radio, input or
        device.
        """
        places = files or {}
        common = None
        if record.radio is not None:
            chosen = LinkRadio(radio=record.radio, inputs=record.inputs, device=record.device)
            common = equipment(chosen, places, measured_on_device=record.measured_on_device)
        own = {
            link: equipment(each, places, measured_on_device=record.measured_on_device)
            for link, each in record.radios.items()
        }
        return cls(record, common, own)

    @classmethod
    def of_campaign(cls, record: EnergyRecord, campaign: Path) -> Settings:
        """The same with the campaign's copies of files."""
        return cls.of(record, {name: campaign / name for name in record.files})

    def of_link(self, name: str) -> Equipment | None:
        """What a client on this link has; None without a radio."""
        return self.own.get(name, self.common)

    def as_record(self, links: Iterable[str], no_day: Mapping[str, str], notes: Sequence[str]) -> EnergyModel:
        """The contents of `energy.json`. `links` are those of the campaign's clients."""
        record = self.record
        battery: Battery | None = None
        if record.battery_mah is not None and record.battery_v is not None:
            battery = {"capacity_mah": record.battery_mah, "voltage_v": record.battery_v}
        return {
            "schema_version": ENERGY_VERSION,
            "radios": self._radios(links), "measured_on_device": record.measured_on_device,
            "battery": battery, "no_day": dict(no_day), "notes": list(notes),
        }  # fmt: skip

    def _radios(self, links: Iterable[str]) -> list[LinkRadioRecord]:
        found: list[tuple[Equipment, LinkRadioRecord]] = []
        for link in dict.fromkeys(links):
            own = self.of_link(link)
            if own is None:
                continue
            known = next((record for each, record in found if each == own), None)
            if known is None:
                known = {"links": [], "radio": radio_record(own.radio), "device": device_record(own.device)}
                found.append((own, known))
            known["links"].append(link)
        return [record for _, record in found]


def equipment(chosen: LinkRadio, files: Mapping[str, Path], *, measured_on_device: bool) -> Equipment:
    """A radio with its inputs and its device. Raises `WirelabError` if there is no such radio, input or device."""
    radio = load_radio(str(files.get(chosen.radio, chosen.radio)))
    if chosen.inputs:
        radio = radio.with_inputs(chosen.inputs)
    device = None if chosen.device is None else load_device(str(files.get(chosen.device, chosen.device)))
    return Equipment(radio, device, measured_on_device)


def radio_record(radio: Radio) -> RadioRecord:
    """A radio with the sources of its constants."""
    return {
        "name": radio.name, "title": radio.title, "validated": radio.validated,
        "inputs": {name: each.written for name, each in radio.inputs.items()}, "sources": _sources(radio),
    }  # fmt: skip


def device_record(device: Device | None) -> DeviceRecord | None:
    """The same of a device."""
    if device is None:
        return None
    return {
        "name": device.name, "title": device.title, "validated": device.validated, "sources": _sources(device),
    }  # fmt: skip


def with_kept_files(record: EnergyRecord, campaign: Path) -> EnergyRecord:
    """The same with copies of the user's own files in the campaign, by their names, which must differ."""
    paths: Collection[Path] = {Path(name) for name in record.files}
    if len({path.name for path in paths}) < len(paths):
        twice = Path(record.radio or "").name
        raise WirelabError(f"radio and device are both named {twice}", "--device", "rename one")
    for path in paths:
        replace_file(campaign / path.name, read_text(path, Where(str(path))))
    return record.model_copy(update={"radio": _kept(record.radio), "device": _kept(record.device)})


def _kept(name: str | None) -> str | None:
    return Path(name).name if name is not None and is_own_file(name) else name


def _sources(of: Radio | Device) -> list[Constant]:
    return [{"constant": each.path, "value": each.written, "source": each.source} for each in of.cited()]
