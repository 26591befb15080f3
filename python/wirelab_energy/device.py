"""Devices around a radio: their supply, and what their processors draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wirelab_energy.constant import Cited, Constant, Sheet, every_key, flatten, known_keys
from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.files import names, read
from wirelab_energy.range import Range

FOLDER = "devices"
SHAPE = {
    "title": str, "about": str, "validated": bool, "supply": dict, "power": dict, "sources": dict,
}  # fmt: skip
ACTIVE, BEYOND, SLEEP = "power.active", "power.beyond-sleep", "power.sleep"


@dataclass(frozen=True, slots=True)
class Device:
    """A device without its radio: mean power (W) while its processor sleeps, and while it computes (`power.active`) or
    what that takes beyond sleep (`power.beyond-sleep`)."""

    name: str
    title: str
    about: str
    validated: bool
    voltage: Constant
    computing: Constant
    sleep: Constant

    @property
    def label(self) -> str:
        """Its name as outputs have it."""
        return self.name if self.validated else f"{self.name} (unvalidated)"

    def cpu_joules(self, seconds: float) -> Range:
        """Energy beyond sleep of so much CPU time, which must have been measured on this device: seconds of another
        machine's processor say nothing of this one's joules."""
        return self.beyond_sleep * seconds

    @property
    def beyond_sleep(self) -> Range:
        """What computing takes beyond sleep (W). Two powers are each off on their own, so that bounds of their
        difference do not cancel."""
        if self.computing.path == BEYOND:
            return self.computing.value
        active, sleep = self.computing.value, self.sleep.value
        low, typical = (max(0.0, each) for each in (active.low - sleep.high, active.typical - sleep.typical))
        return Range(low, typical, active.high - sleep.low)

    def cited(self) -> list[Cited]:
        """Every number with its source."""
        return [each.cited for each in (self.voltage, self.computing, self.sleep)]


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
    known_keys(power, (ACTIVE, BEYOND, SLEEP), where)
    paths = (BEYOND if BEYOND in power else ACTIVE, SLEEP)
    every_key(power, paths, where)
    if ACTIVE in power and BEYOND in power:
        raise WirelabError("says again what 'power.active' says", sheet.at(BEYOND), "give one of them")
    computing, sleep = (sheet.constant(path, power[path], "power") for path in paths)
    if computing.path == ACTIVE and sleep.value.high > computing.value.high:
        raise WirelabError("sleeping takes more than computing", sheet.at(SLEEP))
    title, about = document.get("title", name), document.get("about", "")
    return Device(name, title, about, document.get("validated", False), sheet.voltage, computing, sleep)
