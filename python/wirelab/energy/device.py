"""Devices around a radio: their supply, and what their processors draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wirelab.energy.constant import Cited, Constant, Sheet, every_key, flatten, known_keys
from wirelab.energy.files import names, read
from wirelab.energy.range import Range
from wirelab.errors import Where, WirelabError

FOLDER = "devices"
SHAPE = {
    "title": str, "about": str, "validated": bool, "supply": dict, "power": dict, "sources": dict,
}  # fmt: skip
POWERS = {"power.active": "its processor computes", "power.sleep": "its processor sleeps, radio apart"}


@dataclass(frozen=True, slots=True)
class Device:
    """A device without its radio: mean power (W) while its processor computes and while it sleeps."""

    name: str
    title: str
    about: str
    validated: bool
    voltage: Constant
    active: Constant
    sleep: Constant

    @property
    def label(self) -> str:
        """Its name as outputs have it."""
        return self.name if self.validated else f"{self.name} (unvalidated)"

    def cpu_joules(self, seconds: float) -> Range:
        """Energy beyond sleep of so much CPU time, which must have been measured on this device: seconds of another
        machine's processor say nothing of this one's joules."""
        bounds = zip(_bounds(self.active.value), _bounds(self.sleep.value), strict=True)
        low, typical, high = (max(0.0, active - sleep) * seconds for active, sleep in bounds)
        return Range.spanning(typical, low, high)

    def cited(self) -> list[Cited]:
        """Every number with its source."""
        return [each.cited for each in (self.voltage, self.active, self.sleep)]


def device_names() -> list[str]:
    """Devices that ship."""
    return names(FOLDER)


def load_device(name_or_path: str) -> Device:
    """A shipped device by its name, or a user's own by its file."""
    return parse_device(*read(name_or_path, FOLDER, "device", SHAPE))


def parse_device(name: str, document: Mapping[str, Any], where: Where) -> Device:
    """A device of what its file says."""
    sheet = Sheet(document, where, ("voltage",))
    power = flatten(document.get("power", {}), "power.")
    known_keys(power, POWERS, where)
    every_key(power, POWERS, where)
    active, sleep = (sheet.constant(path, power[path], "power") for path in POWERS)
    if sleep.value.high > active.value.high:
        raise WirelabError("sleeping takes more than computing", sheet.at("power.sleep"))
    title, about = document.get("title", name), document.get("about", "")
    return Device(name, title, about, document.get("validated", False), sheet.voltage, active, sleep)


def _bounds(value: Range) -> tuple[float, float, float]:
    return value.low, value.typical, value.high
