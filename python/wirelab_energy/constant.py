"""Values of radios' and devices' files: read with their units, ranges and sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wirelab_energy import units
from wirelab_energy.errors import Where, WirelabError, did_you_mean
from wirelab_energy.range import Range
from wirelab_energy.units import UnitError

NO_SOURCE = ""
ALWAYS = "always"
NEVER = "never"
BY = "by"
"""In a table of alternatives, the input that chooses."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A value as a file has it, and where it comes from."""

    path: str
    written: str
    source: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A number with its range, in base units (W, V, s, bit/s, B, J, 1), as written, and where it comes from: a text
    that may begin with `second-hand:` or `assumed:`. `less_is_more`: the lower it is the more energy it takes."""

    path: str
    written: str
    value: Range
    source: str
    less_is_more: bool = False

    @property
    def cited(self) -> Cited:
        """As written, with its source."""
        return Cited(self.path, self.written, self.source)

    def at(self, bound: str) -> float:
        """Its value where the energy is `low`, `typical` or `high`."""
        if self.less_is_more and bound != "typical":
            bound = "low" if bound == "high" else "high"
        return float(getattr(self.value, bound))


@dataclass(frozen=True, slots=True)
class Choice:
    """A constant whose value an input chooses."""

    path: str
    by: str
    alternatives: Mapping[str, Constant]


def _seconds(value: object) -> float:
    return units.duration_ns(value) / 1e9


def _timer(value: object) -> float:
    """A time-out: what always lasts never runs out."""
    return math.inf if value in (ALWAYS, NEVER) else _seconds(value)


def _stay(value: object) -> float:
    if value == NEVER:
        raise UnitError("reads as no time at all", 'for ever is "always", and not at all "0 s"')
    return _timer(value)


def _cycle(value: object) -> float:
    if value == ALWAYS:
        raise UnitError("reads as without a pause", 'what does not recur is "never"')
    return _timer(value)


def _count(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise UnitError("is not a number", "such as 8, without a unit")
    return float(value)


def _positive(read: Callable[[object], float]) -> Callable[[object], float]:
    def positive(value: object) -> float:
        found = read(value)
        if found <= 0:
            raise UnitError("is not more than 0")
        return found

    return positive


def _at_most(most: int, read: Callable[[object], float]) -> Callable[[object], float]:
    def bounded(value: object) -> float:
        found = read(value)
        if found > most:
            raise UnitError(f"is more than {most}")
        return found

    return bounded


READERS: Mapping[str, Callable[[object], float]] = {
    "voltage": _positive(units.voltage_v),
    "duration": _seconds,
    "period": _positive(_seconds),
    "timer": _timer,
    "stay": _stay,
    "cycle": _positive(_cycle),
    "rate": _positive(lambda value: float(units.rate_bps(value))),
    "size": lambda value: float(units.size_bytes(value)),
    "capacity": _positive(lambda value: float(units.size_bytes(value))),
    "frame-header": _at_most(114, lambda value: float(units.size_bytes(value))),
    "exponent": _at_most(8, _count),
    "energy": units.energy_j,
    "count": _count,
    "multiple": _positive(_count),
}
"""How values are read, beside `power` (see `Sheet.power`) and words. A timer may also be "always" or "never", a stay
"always" and a cycle "never", which is for ever; rates, periods, cycles, capacities and multiples are more than 0."""


class Sheet:
    """A file's values, read: with its sources, and with the voltage at which its currents are drawn."""

    def __init__(self, document: Mapping[str, Any], where: Where, supply_keys: Iterable[str]) -> None:
        self.where = where
        self.sources = {path: str(source) for path, source in flatten(document.get("sources", {})).items()}
        self._voltage_v = 0.0
        supply = document.get("supply", {})
        known_keys(supply, supply_keys, self.at("supply"))
        if "voltage" not in supply:
            raise WirelabError("has no 'voltage'", self.at("supply"), 'such as voltage = "3 V"')
        self.voltage = self.constant("supply.voltage", supply["voltage"], "voltage")
        self._voltage_v = self.voltage.value.typical

    def at(self, key: str) -> Where:
        """A key's place."""
        return Where(self.where.source, key=key)

    def power(self, value: object) -> float:
        """A power, or a current that is drawn at the supply's voltage, as W."""
        if isinstance(value, str) and value.rstrip().endswith("A"):
            return units.current_a(value) * self._voltage_v
        return units.power_w(value)

    def source(self, path: str, *instead: str) -> str:
        """Where a value comes from: its own source, else one of these paths'."""
        return next((self.sources[each] for each in (path, *instead) if each in self.sources), NO_SOURCE)

    def constant(self, path: str, value: Any, kind: str, *instead: str) -> Constant:
        """A value, or a list of its low, typical and high."""
        each = value if isinstance(value, list) else [value]
        if len(each) not in {1, 3}:
            raise WirelabError(
                f"has {len(each)} values", self.at(path), "write one, or a list of low, typical and high"
            )
        read = self.power if kind == "power" else READERS[kind]
        try:
            numbers = [read(one) for one in each]
        except UnitError as error:
            raise WirelabError(f"{value!r} {error}", self.at(path), error.hint) from None
        if numbers != sorted(numbers):
            raise WirelabError(f"{value!r} is not in order", self.at(path), "write low, typical, high")
        written = str(value) if len(each) == 1 else f"{each[1]} ({each[0]} to {each[2]})"
        bounds = Range(numbers[0], numbers[len(each) // 2], numbers[-1])
        return Constant(path, written, bounds, self.source(path, *instead), kind == "rate")

    def choice(self, path: str, value: Mapping[str, Any], kind: str) -> Choice:
        """Alternatives by the words of an input; their source is their own, else that of the table."""
        alternatives = {
            key: self.constant(f"{path}.{key}", each, kind, path) for key, each in value.items() if key != BY
        }
        return Choice(path, str(value[BY]), alternatives)


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Values by dotted path; a table with `by` is one value."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and BY not in value:
            flat |= flatten(value, f"{path}.")
        else:
            flat[path] = value
    return flat


def known_keys(found: Iterable[str], known: Iterable[str], where: Where) -> None:
    """Refuses a key that is not known."""
    for key in found:
        if key not in known:
            raise WirelabError(f"unknown key '{key}'", where, did_you_mean(key, known))


def every_key(found: Container[str], known: Iterable[str], where: Where) -> None:
    """Refuses the absence of a key."""
    for key in known:
        if key not in found:
            raise WirelabError(f"has no '{key}'", where, f"it must give: {', '.join(known)}")
