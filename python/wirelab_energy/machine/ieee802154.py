"""IEEE 802.15.4 at 2.4 GHz under 6LoWPAN, without beacons; clauses of IEEE Std 802.15.4-2006, numbers as the link's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from wirelab_energy.machine.base import Key, Phase, State, Step, Values, number
from wirelab_energy.packet import Packet

SYMBOL_S = 16e-6
BYTE_S = 2 * SYMBOL_S
"""250 kbit/s (6.5)."""
PHY_BYTES = 6
"""Preamble, start-of-frame delimiter, PHY header (6.3)."""
MOST_BYTES = 127
"""aMaxPHYPacketSize (6.4.1)."""
UNIT_BACKOFF_S = 20 * SYMBOL_S
CCA_S = 8 * SYMBOL_S
TURNAROUND_S = 12 * SYMBOL_S
ACK_S = (PHY_BYTES + 5) * BYTE_S
FRAG1_BYTES = 4
FRAGN_BYTES = 5
"""Headers of fragments (RFC 4944, section 5.3)."""
DISPATCH_BYTES = 1
UNIT_BYTES = 8


def fragments(size: int, compressed: int, room: int) -> list[int]:
    """MAC payloads (B) of a datagram whose headers are `compressed` bytes shorter on the air, as the link has them."""
    dispatch = 0 if compressed else DISPATCH_BYTES
    whole = dispatch + max(0, size - compressed)
    if whole <= room:
        return [whole]
    carried = _units(room - FRAG1_BYTES - dispatch + compressed)
    payloads = [FRAG1_BYTES + dispatch + carried - compressed]
    while carried < size:
        part = min(_units(room - FRAGN_BYTES), size - carried)
        payloads.append(FRAGN_BYTES + part)
        carried += part
    return payloads


class Ieee802154:
    """Frames of at most 127 B behind CSMA-CA, each acknowledged."""

    name = "ieee802154"
    about = (
        "IEEE Std 802.15.4-2006 at 2.4 GHz under 6LoWPAN, without beacons. A packet goes in frames of at most 127 "
        "B (RFC 4944). Before each of its own the radio backs off for the mean of the first window, senses the air "
        "and turns round; an ACK follows. Retries are counted where the packets are: a frame that the log does not "
        "show again costs nothing here. Behind the last packet the receiver stays on for `stays-on`; then it "
        "sleeps, and polls its parent every `poll`."
    )
    constants: Mapping[str, Key] = {
        "power.transmit": Key("power", "while it sends"),
        "power.receive": Key("power", "while it receives or listens"),
        "power.backoff": Key("power", "while it backs off, its receiver not needed"),
        "power.sleep": Key("power", "asleep"),
        "count.min-be": Key("exponent", "macMinBE: the first window is 2^BE unit back-off periods"),
        "size.compressed": Key("size", "bytes that header compression (RFC 6282) saves"),
        "size.mac": Key("frame-header", "MAC header and FCS of a data frame; the rest holds a fragment"),
        "size.poll": Key("size", "a data request, MAC header and FCS included"),
    }
    inputs: Mapping[str, Key] = {
        "tx-power": Key("word", "output power"),
        "stays-on": Key("stay", "how long the receiver stays on behind the last packet"),
        "poll": Key("cycle", "how often a sleeping radio polls its parent"),
    }

    def states(self, values: Values) -> Mapping[str, State]:
        receive = number(values, "power.receive")
        sleep = number(values, "power.sleep")
        poll_s, every_s = self._poll(values), number(values, "inputs.poll")
        awake = sum(step.seconds for step in poll_s) / every_s
        heard = sum(step.seconds for step in poll_s if step.state != "transmit") / every_s
        sent = awake - heard
        watts = sent * number(values, "power.transmit") + heard * receive + (1 - awake) * sleep
        return {
            "transmit": State(number(values, "power.transmit"), transmits=1),
            "receive": State(receive, receives=1),
            "listen": State(receive, listens=1),
            "backoff": State(number(values, "power.backoff")),
            "sleep": State(watts, transmits=sent, listens=heard),
        }

    def wake(self, values: Values, state: str, packet: Packet) -> Sequence[Step]:
        return ()

    def transfer(self, values: Values, packet: Packet) -> Sequence[Step]:
        mac = int(number(values, "size.mac"))
        payloads = fragments(packet.size, int(number(values, "size.compressed")), MOST_BYTES - mac)
        steps: list[Step] = []
        for payload in payloads:
            air_s = (PHY_BYTES + mac + payload) * BYTE_S
            if packet.up:
                steps += self._send(values, air_s)
            else:
                steps += [Step("receive", air_s), Step("listen", TURNAROUND_S), Step("transmit", ACK_S)]
        return steps

    def rest(self, values: Values, *, up: bool, gap_s: float) -> Iterator[Phase]:
        stays_on_s = number(values, "inputs.stays-on")
        if not math.isinf(stays_on_s):
            yield Phase("listen", stays_on_s)
        yield Phase("listen" if math.isinf(stays_on_s) else "sleep", math.inf, rests=True)

    def _send(self, values: Values, air_s: float) -> list[Step]:
        backoff_s = (2 ** number(values, "count.min-be") - 1) / 2 * UNIT_BACKOFF_S
        return [
            Step("backoff", backoff_s),
            Step("listen", CCA_S + TURNAROUND_S),
            Step("transmit", air_s),
            Step("listen", TURNAROUND_S + ACK_S),
        ]

    def _poll(self, values: Values) -> list[Step]:
        if math.isinf(number(values, "inputs.poll")):
            return []
        air_s = (PHY_BYTES + number(values, "size.poll")) * BYTE_S
        return [step for step in self._send(values, air_s) if step.state != "backoff"]


def _units(size: int) -> int:
    return size // UNIT_BYTES * UNIT_BYTES
