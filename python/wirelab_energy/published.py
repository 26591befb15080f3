"""Published figures that a radio's model is held against: as data, in the radio's file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wirelab_energy import units
from wirelab_energy.constant import READERS, every_key, known_keys
from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.packet import Packet
from wirelab_energy.range import Range
from wirelab_energy.units import UnitError

QUANTITIES: Mapping[str, Callable[[object], float]] = {
    "energy": units.energy_j,
    "mean-current": units.current_a,
    "mean-power": units.power_w,
    "airtime": READERS["duration"],
}
"""What a figure may be of, and how it is read: the energy of the whole event with its tail, the mean over `over`, or
the time with the transmitter on."""
REQUIRED = ("what", "quantity", "value", "packets", "source")
KEYS = (*REQUIRED, "over", "inputs", "note", "same-constants")


@dataclass(frozen=True, slots=True)
class Published:
    """A figure from elsewhere, and the traffic and inputs that it is of. `value` is in J, A, W or s; `over_s` is the
    time that a mean is over, from the first packet's instant on, and 0 where there is none. `same_constants`: it was
    computed from the radio's own constants, so that it says nothing of them."""

    what: str
    quantity: str
    value: float
    written: str
    over_s: float
    packets: tuple[Packet, ...]
    inputs: Mapping[str, str]
    source: str
    note: str
    same_constants: bool


def read_published(table: Mapping[str, Any], where: Where) -> Published:
    """A figure as a file has it."""
    at = Where(where.source, key="published")
    if not isinstance(table, Mapping):
        raise WirelabError(f"{table!r} is not a table", at)
    known_keys(table, KEYS, at)
    every_key(table, REQUIRED, at)
    if str(table["quantity"]) not in QUANTITIES:
        raise WirelabError(f"unknown quantity '{table['quantity']}'", at, f"known: {', '.join(QUANTITIES)}")
    if not isinstance(table["packets"], list) or not isinstance(table.get("inputs", {}), dict):
        raise WirelabError("packets are a list and inputs a table", at)
    if not isinstance(table.get("same-constants", False), bool):
        raise WirelabError(f"same-constants is true or false, not {table['same-constants']!r}", at)
    try:
        value = QUANTITIES[table["quantity"]](table["value"])
        over_s = READERS["duration"](table.get("over", "0 s"))
        packets = tuple(_packet(each, at) for each in table["packets"])
    except UnitError as error:
        raise WirelabError(str(error), at, error.hint) from None
    return Published(
        str(table["what"]), table["quantity"], value, str(table["value"]), over_s, packets,
        dict(table.get("inputs", {})), str(table["source"]), str(table.get("note", "")),
        table.get("same-constants", False),
    )  # fmt: skip


def quantity_words(value: Range, quantity: str) -> str:
    """A range with its unit: `3.3 mW [3.2 mW, 3.4 mW]`."""
    return value.said(lambda each: _number_words(each, quantity))


def _number_words(value: float, quantity: str) -> str:
    match quantity:
        case "energy":
            return units.format_energy(value)
        case "mean-power":
            return units.format_power(value)
        case "airtime":
            return units.format_duration(value * 1e9)
    return units.format_power(value).replace("W", "A")


def _packet(table: object, where: Where) -> Packet:
    if not isinstance(table, dict) or len(table) != 2 or "at" not in table or not {"up", "down"} & set(table):
        raise WirelabError(f"{table!r} is not a packet", where, 'such as { at = "0 s", up = "30 B" }')
    up = "up" in table
    return Packet(
        round(READERS["duration"](table["at"]) * 1e9), up, int(READERS["size"](table["up" if up else "down"]))
    )
