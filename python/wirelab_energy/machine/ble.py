"""A connection of Bluetooth Low Energy, LE 1M; sections of the Bluetooth Core Specification 4.2, volume 6, part B."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from wirelab_energy.machine.base import Key, Phase, State, Step, Values, number
from wirelab_energy.packet import Packet

BYTE_S = 8e-6
"""1 Mbit/s."""
EMPTY_BYTES = 1 + 4 + 2 + 3
"""Preamble, access address, header, CRC (2.1)."""
IFS_S = 150e-6
"""T_IFS (4.1)."""
L2CAP_BYTES = 4 + 2
"""Basic L2CAP header, and the length of the SDU in a channel's first PDU (volume 3, part A, 3.1 and 3.4)."""


class Ble:
    """A peripheral that answers its central in every connection event."""

    name = "ble"
    about = (
        "A connection of Bluetooth Low Energy at 1 Mbit/s (Core Specification 4.2, volume 6, part B), the client "
        "as its peripheral: every `interval` it hears the central and answers, empty-handed if need be; with "
        "`latency` it may skip so many events. A packet goes in data channel PDUs over L2CAP (RFC 7668), each "
        "answered by an empty PDU. The connection stays for `stays-connected` behind the last packet; setting up "
        "another is not modelled."
    )
    constants: Mapping[str, Key] = {
        "power.transmit": Key("power", "while it sends"),
        "power.receive": Key("power", "while it receives"),
        "power.between": Key("power", "between sending and receiving"),
        "power.event": Key("power", "before and behind the radio's part of a connection event"),
        "power.sleep": Key("power", "between connection events"),
        "time.event": Key("duration", "what a connection event takes before and behind the radio's part"),
        "size.payload": Key("capacity", "payload of a data channel PDU"),
        "size.compressed": Key("size", "bytes that header compression (RFC 6282) saves"),
    }
    inputs: Mapping[str, Key] = {
        "tx-power": Key("word", "output power"),
        "interval": Key("period", "connection interval"),
        "latency": Key("count", "connection events that the peripheral may skip"),
        "stays-connected": Key("stay", "how long the connection stays behind the last packet"),
    }

    def states(self, values: Values) -> Mapping[str, State]:
        transmit, receive = number(values, "power.transmit"), number(values, "power.receive")
        sleep, event_s = number(values, "power.sleep"), number(values, "time.event")
        every_s = number(values, "inputs.interval") * (1 + number(values, "inputs.latency"))
        air = EMPTY_BYTES * BYTE_S
        joules = air * (transmit + receive) + IFS_S * number(values, "power.between")
        joules += event_s * number(values, "power.event")
        busy_s = 2 * air + IFS_S + event_s
        connected = (joules + (every_s - busy_s) * sleep) / every_s
        return {
            "transmit": State(transmit, transmits=1),
            "receive": State(receive, receives=1),
            "between": State(number(values, "power.between")),
            "connected": State(connected, transmits=air / every_s, listens=air / every_s),
            "sleep": State(sleep),
        }

    def wake(self, values: Values, state: str, packet: Packet) -> Sequence[Step]:
        return ()

    def transfer(self, values: Values, packet: Packet) -> Sequence[Step]:
        payload = number(values, "size.payload")
        left = max(0.0, packet.size - number(values, "size.compressed")) + L2CAP_BYTES
        mine, theirs = ("transmit", "receive") if packet.up else ("receive", "transmit")
        steps: list[Step] = []
        while left > 0:
            part = min(payload, left)
            left -= part
            steps += [Step(mine, (EMPTY_BYTES + part) * BYTE_S), Step("between", IFS_S)]
            steps += [Step(theirs, EMPTY_BYTES * BYTE_S), Step("between", IFS_S)]
        return steps

    def rest(self, values: Values, *, up: bool, gap_s: float) -> Iterator[Phase]:
        stays_s = number(values, "inputs.stays-connected")
        if not math.isinf(stays_s):
            yield Phase("connected", stays_s)
        yield Phase("connected" if math.isinf(stays_s) else "sleep", math.inf, rests=True)
