"""Ethernet's PHY and controller: on for as long as the link is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wirelab_energy.machine.base import Key, Phase, State, Step, Values, number
from wirelab_energy.packet import Packet

OVERHEAD_BYTES = 8 + 14 + 4
"""Preamble and start-of-frame delimiter, header, FCS (IEEE Std 802.3-2018, clause 3.1.1)."""
LEAST_BYTES = 8 + 64
"""The shortest frame (clause 3.2.8, 64 B from addresses to FCS), behind its preamble."""
GAP_BYTES = 12
"""Between frames (clause 4.4.2, interPacketGap: 96 bits)."""


class Ethernet:
    """Linked all the time; a frame takes its time at the line's rate."""

    name = "ethernet"
    about = (
        "Ethernet (IEEE Std 802.3-2018): the link is up all the time, idle or not, and each packet is one frame at "
        "the line's rate. Both directions count one after the other; Energy-Efficient Ethernet (clause 78) is not "
        "modelled."
    )
    constants: Mapping[str, Key] = {
        "power.transmit": Key("power", "while a frame is sent"),
        "power.receive": Key("power", "while a frame is received"),
        "power.idle": Key("power", "linked, without frames"),
        "rate.line": Key("rate", "rate of the line"),
    }
    inputs: Mapping[str, Key] = {}

    def states(self, values: Values) -> Mapping[str, State]:
        return {
            "transmit": State(number(values, "power.transmit"), transmits=1),
            "receive": State(number(values, "power.receive"), receives=1),
            "idle": State(number(values, "power.idle"), listens=1),
        }

    def wake(self, values: Values, state: str, packet: Packet) -> Sequence[Step]:
        return ()

    def transfer(self, values: Values, packet: Packet) -> Sequence[Step]:
        frame = max(LEAST_BYTES, packet.size + OVERHEAD_BYTES)
        byte_s = 8 / number(values, "rate.line")
        return (Step("transmit" if packet.up else "receive", frame * byte_s), Step("idle", GAP_BYTES * byte_s))

    def rest(self, values: Values, *, up: bool, gap_s: float) -> Iterator[Phase]:
        yield Phase("idle", float("inf"), rests=True)
