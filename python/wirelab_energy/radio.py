"""Radios: what each state costs, how long it lasts, and where every number comes from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from wirelab_energy.constant import (
    BY,
    NO_SOURCE,
    READERS,
    Choice,
    Cited,
    Constant,
    Sheet,
    every_key,
    flatten,
    known_keys,
)
from wirelab_energy.errors import Where, WirelabError, did_you_mean
from wirelab_energy.files import is_file, names, read
from wirelab_energy.machine import MACHINES
from wirelab_energy.machine.base import Machine, State, Values
from wirelab_energy.published import Published, read_published
from wirelab_energy.range import Range
from wirelab_energy.units import UnitError

FOLDER = "radios"
BOUNDS = ("low", "typical", "high")
TABLES = ("power", "time", "rate", "size", "energy", "count")
SHAPE = {
    "title": str, "about": str, "machine": str, "validated": bool, "link": str, "supply": dict,
    **dict.fromkeys(TABLES, dict), "inputs": dict, "ranges": dict, "sources": dict, "published": list,
}  # fmt: skip
SUPPLY = ("voltage", "device")
WEIGHTS = ("power.", "energy.")
"""Constants that weigh states and do not time them."""


@dataclass(frozen=True, slots=True)
class Input:
    """What a user may set, as it is now: `value` in base units, or a word; `words` are those to choose from."""

    name: str
    written: str
    value: float | str
    kind: str
    about: str
    source: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Levels:
    """What else an input may be in another network, as written."""

    levels: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Radio:
    """A radio of one kind (`machine`), with its constants and inputs.

    `validated`: it reproduces a published figure of traffic that its constants were not set from and that was not
    computed from them; else every output must say `unvalidated`. `device` is the device whose sleep is part of the
    radio's own, if it is one chip. `link` is the link profile whose numbers it shares.
    """

    name: str
    title: str
    about: str
    validated: bool
    machine: Machine
    voltage: Constant
    device: str | None
    link: str | None
    constants: Mapping[str, Constant | Choice]
    inputs: Mapping[str, Input]
    published: tuple[Published, ...]
    ranges: Mapping[str, Levels] = dataclasses.field(default_factory=dict)
    """Inputs that another network may set otherwise."""

    @property
    def label(self) -> str:
        """Its name as outputs have it."""
        return self.name if self.validated else f"{self.name} (unvalidated)"

    def with_inputs(self, inputs: Mapping[str, object], where: Where | str = "--set") -> Radio:
        """The same radio with other inputs, as written in a file: `{"inactivity": "5 s"}`."""
        changed = dict(self.inputs)
        for name, value in inputs.items():
            known = self.inputs.get(name)
            if known is None:
                raise WirelabError(f"radio {self.name} has no input '{name}'", where, did_you_mean(name, self.inputs))
            changed[name] = _input(known, value, "set by the user", Where(str(where), key=name))
        return dataclasses.replace(self, inputs=changed)

    def constant(self, path: str) -> Constant:
        """A constant as its inputs choose it."""
        found = self.constants[path]
        return found.alternatives[str(self.inputs[found.by].value)] if isinstance(found, Choice) else found

    def values(self, bound: str) -> Values:
        """All of its numbers where the energy is `low`, `typical` or `high`."""
        return self._values[bound]

    # A campaign asks for these with each of its messages.
    @cached_property
    def _values(self) -> Mapping[str, Values]:
        inputs = {f"inputs.{name}": each.value for name, each in self.inputs.items()}
        return {
            bound: {**{path: self.constant(path).at(bound) for path in self.constants}, **inputs} for bound in BOUNDS
        }

    @cached_property
    def states(self) -> Mapping[str, Mapping[str, State]]:
        """Its states with the constants at each bound."""
        return {bound: self.machine.states(values) for bound, values in self._values.items()}

    @cached_property
    def watts(self) -> Mapping[str, Range]:
        """The power of each state."""
        return {
            name: Range.spanning(state.watts, *(self.states[bound][name].watts for bound in BOUNDS))
            for name, state in self.states["typical"].items()
        }

    @cached_property
    def timed_as(self) -> Mapping[str, str]:
        """Of each bound, the first one whose states last as long: all are one where only powers have bounds."""
        first: dict[tuple[tuple[str, float | str], ...], str] = {}
        return {
            bound: first.setdefault(tuple(each for each in values.items() if not each[0].startswith(WEIGHTS)), bound)
            for bound, values in self._values.items()
        }

    def cited(self) -> list[Cited]:
        """Every number and input with its source."""
        numbers: list[Constant] = [self.voltage]
        for each in self.constants.values():
            numbers += each.alternatives.values() if isinstance(each, Choice) else [each]
        inputs = [Cited(f"inputs.{name}", each.written, each.source) for name, each in self.inputs.items()]
        ranges = [Cited(f"ranges.{name}", ", ".join(each.levels), each.source) for name, each in self.ranges.items()]
        return [*(each.cited for each in numbers), *inputs, *ranges]


def radio_names() -> list[str]:
    """Radios that ship."""
    return names(FOLDER)


def load_radio(name_or_path: str) -> Radio:
    """A shipped radio by its name, or a user's own by its file."""
    return parse_radio(*read(name_or_path, FOLDER, "radio", SHAPE)) if is_file(name_or_path) else _shipped(name_or_path)


@cache
def _shipped(name: str) -> Radio:
    return parse_radio(*read(name, FOLDER, "radio", SHAPE))


def parse_radio(name: str, document: Mapping[str, Any], where: Where) -> Radio:
    """A radio of what its file says."""
    sheet = Sheet(document, where, SUPPLY)
    machine = MACHINES.get(document.get("machine", ""))
    if machine is None:
        written = document.get("machine", "")
        raise WirelabError(f"unknown machine '{written}'", sheet.at("machine"), did_you_mean(written, MACHINES))
    constants = _constants(document, sheet, machine)
    given = document.get("inputs", {})
    known_keys(given, machine.inputs, sheet.at("inputs"))
    every_key(given, machine.inputs, sheet.at("inputs"))
    inputs = {
        key: _input(_blank(key, machine, constants), value, sheet.source(f"inputs.{key}"), sheet.at(f"inputs.{key}"))
        for key, value in given.items()
    }
    return Radio(
        name=name, title=document.get("title", name), about=document.get("about", ""),
        validated=document.get("validated", False), machine=machine, voltage=sheet.voltage,
        device=_word(document["supply"], "device", sheet), link=document.get("link"),
        constants=constants, inputs=inputs,
        published=tuple(read_published(each, where) for each in document.get("published", [])),
        ranges=_ranges(document.get("ranges", {}), inputs, sheet),
    )  # fmt: skip


def _ranges(table: Mapping[str, Any], inputs: Mapping[str, Input], sheet: Sheet) -> dict[str, Levels]:
    known_keys(table, inputs, sheet.at("ranges"))
    found = {}
    for name, levels in table.items():
        at = sheet.at(f"ranges.{name}")
        if not isinstance(levels, list) or not levels:
            raise WirelabError("should be a list of levels", at, '["5 s", "20 s"]')
        found[name] = Levels(
            tuple(_input(inputs[name], level, "", at).written for level in levels), sheet.source(f"ranges.{name}")
        )
    return found


def _word(table: Mapping[str, Any], key: str, sheet: Sheet) -> str | None:
    if not isinstance(table.get(key, ""), str):
        raise WirelabError(f"{table[key]!r} is not a name", sheet.at(key))
    return table.get(key)


def _constants(document: Mapping[str, Any], sheet: Sheet, machine: Machine) -> dict[str, Constant | Choice]:
    written = flatten({key: document[key] for key in TABLES if key in document})
    known_keys(written, machine.constants, sheet.where)
    every_key(written, machine.constants, sheet.where)
    constants: dict[str, Constant | Choice] = {}
    for path, value in written.items():
        kind = machine.constants[path].kind
        if isinstance(value, dict):
            choice = constants[path] = sheet.choice(path, value, kind)
            known_keys([choice.by], machine.inputs, sheet.at(f"{path}.{BY}"))
            known_keys(choice.alternatives, machine.inputs[choice.by].words or choice.alternatives, sheet.at(path))
        else:
            constants[path] = sheet.constant(path, value, kind)
    return constants


def _blank(name: str, machine: Machine, constants: Mapping[str, Constant | Choice]) -> Input:
    """An input without a value: the words to choose from are those of every constant that it chooses."""
    key = machine.inputs[name]
    choices = [each.alternatives for each in constants.values() if isinstance(each, Choice) and each.by == name]
    words = tuple(word for word in choices[0] if all(word in each for each in choices)) if choices else ()
    return Input(name, "", 0.0, key.kind, key.about, NO_SOURCE, words or key.words)


def _input(blank: Input, value: object, source: str, where: Where) -> Input:
    if blank.kind == "word":
        if str(value) not in blank.words:
            raise WirelabError(f"unknown {blank.name} '{value}'", where, did_you_mean(str(value), blank.words))
        return dataclasses.replace(blank, written=str(value), value=str(value), source=source)
    if blank.kind in {"count", "multiple"} and isinstance(value, str) and value.isdecimal():
        value = int(value)
    try:
        read_value = READERS[blank.kind](value)
    except UnitError as error:
        raise WirelabError(f"{value!r} {error}", where, error.hint) from None
    return dataclasses.replace(blank, written=str(value), value=read_value, source=source)
