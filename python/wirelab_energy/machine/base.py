"""What a radio's state machine is: states with their power, what a packet takes, and what follows the last one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from wirelab_energy.packet import Packet

Values = Mapping[str, float | str]
"""A radio's constants and inputs at one end of their ranges: by dotted path, in W, s, bit/s, B, J or words."""


@dataclass(frozen=True, slots=True)
class State:
    """Mean power while in it, and the shares of that time with the transmitter on, receiving packets, or listening
    for what may come."""

    watts: float
    transmits: float = 0.0
    receives: float = 0.0
    listens: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """So many seconds in a state."""

    state: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Phase:
    """A state that lasts until `until_s` after the last packet; `rests` is the state without another timer behind it,
    where a message's tail is over."""

    state: str
    until_s: float
    rests: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """A constant or an input that a radio's file gives: how it is read (see `wirelab_energy.constant`), what it is, for
    people, and the words that the machine knows, if not any."""

    kind: str
    about: str
    words: tuple[str, ...] = ()


class Machine(Protocol):
    """One kind of radio. Pure: times come in as arguments, values as numbers."""

    @property
    def name(self) -> str:
        """As a radio's file names it."""

    @property
    def about(self) -> str:
        """A paragraph for people, with its standard."""

    @property
    def constants(self) -> Mapping[str, Key]:
        """What a radio's file must give, by dotted path."""

    @property
    def inputs(self) -> Mapping[str, Key]:
        """What a user may set."""

    def states(self, values: Values) -> Mapping[str, State]:
        """Every state that the others name."""

    def wake(self, values: Values, state: str, packet: Packet) -> Sequence[Step]:
        """What a packet that finds the radio in this state takes before it is sent or received."""

    def transfer(self, values: Values, packet: Packet) -> Sequence[Step]:
        """Sending or receiving one packet, with what the link layer adds."""

    def rest(self, values: Values, *, up: bool, gap_s: float) -> Iterator[Phase]:
        """What follows a packet that went up or down, if the next one comes `gap_s` later: at most up to a state that
        lasts for ever."""


def number(values: Values, path: str) -> float:
    """A value that is a number."""
    value = values[path]
    assert not isinstance(value, str)
    return value


def word(values: Values, path: str) -> str:
    """A value that is a word."""
    return str(values[path])
