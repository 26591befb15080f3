"""A radio of three states: it transmits, is awake, or is asleep."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from wirelab_energy.machine.base import Key, Phase, State, Step, Values, number
from wirelab_energy.packet import Packet


class Plain:
    """Awake for a time after each packet, then asleep; waking takes neither time nor energy."""

    name = "plain"
    about = (
        "A radio of three states, so that its energy can be computed by hand. It transmits at its uplink rate, is "
        "awake while it receives at its downlink rate and for `stays-awake` after each packet, and then is asleep. "
        "Waking takes no time, and a packet has no headers of a link layer."
    )
    constants: Mapping[str, Key] = {
        "power.transmit": Key("power", "while it transmits"),
        "power.awake": Key("power", "while it receives or listens"),
        "power.asleep": Key("power", "asleep"),
        "rate.uplink": Key("rate", "uplink"),
        "rate.downlink": Key("rate", "downlink"),
    }
    inputs: Mapping[str, Key] = {"stays-awake": Key("timer", "awake after a packet before it sleeps; never: no sleep")}

    def states(self, values: Values) -> Mapping[str, State]:
        return {
            "transmit": State(number(values, "power.transmit"), transmits=1),
            "awake": State(number(values, "power.awake"), listens=1),
            "asleep": State(number(values, "power.asleep")),
        }

    def wake(self, values: Values, state: str, packet: Packet) -> Sequence[Step]:
        return ()

    def transfer(self, values: Values, packet: Packet) -> Sequence[Step]:
        if packet.up:
            return (Step("transmit", packet.size * 8 / number(values, "rate.uplink")),)
        return (Step("awake", packet.size * 8 / number(values, "rate.downlink")),)

    def rest(self, values: Values, *, up: bool, gap_s: float) -> Iterator[Phase]:
        awake_s = number(values, "inputs.stays-awake")
        if math.isinf(awake_s):
            yield Phase("awake", math.inf, rests=True)
            return
        yield Phase("awake", awake_s)
        yield Phase("asleep", math.inf, rests=True)
