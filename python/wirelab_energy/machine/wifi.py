"""IEEE 802.11 infrastructure, with and without power save; clauses of IEEE Std 802.11-2012, numbers as the link's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from wirelab_energy.machine.base import Key, Phase, State, Step, Values, number
from wirelab_energy.packet import Packet

BEACON_S = 100 * 1024e-6
"""Between beacons: 100 time units of 1024 us, what access points are usually set to (8.4.1.3 defines the field)."""


class Wifi:
    """One frame a packet behind a DIFS, and its ACK; asleep between beacons once nothing has passed for a time."""

    name = "wifi"
    about = (
        "IEEE Std 802.11-2012 to an access point: a packet is one frame behind a DIFS, with preamble, SIFS and "
        "ACK; air that others use and retries cost nothing here. Behind the last packet the radio is awake for "
        "`inactivity`, then it sleeps and wakes for every `dtim`-th beacon (10.2.1). A packet that finds it asleep "
        "and is for it costs a PS-Poll in front. With `inactivity` always it is awake all the time."
    )
    constants: Mapping[str, Key] = {
        "power.transmit": Key("power", "while it sends"),
        "power.receive": Key("power", "while it receives a frame"),
        "power.idle": Key("power", "awake, listening"),
        "power.sleep": Key("power", "asleep between beacons"),
        "time.beacon": Key("duration", "awake for one beacon, with waking up"),
        "time.preamble": Key("duration", "preamble and PHY header of a data frame"),
        "time.ack": Key("duration", "an ACK with its preamble"),
        "time.sifs": Key("duration", "aSIFSTime"),
        "time.difs": Key("duration", "DIFS"),
        "time.ps-poll": Key("duration", "a PS-Poll with its preamble"),
        "rate.data": Key("rate", "of data frames"),
        "size.overhead": Key("size", "what a frame has besides its packet"),
    }
    inputs: Mapping[str, Key] = {
        "inactivity": Key("timer", "awake behind the last packet before it sleeps"),
        "dtim": Key("multiple", "wakes for every so-manieth beacon"),
    }

    def states(self, values: Values) -> Mapping[str, State]:
        receive, sleep = number(values, "power.receive"), number(values, "power.sleep")
        heard = min(1.0, number(values, "time.beacon") / (BEACON_S * number(values, "inputs.dtim")))
        return {
            "transmit": State(number(values, "power.transmit"), transmits=1),
            "receive": State(receive, receives=1),
            "idle": State(number(values, "power.idle"), listens=1),
            "doze": State(heard * receive + (1 - heard) * sleep, listens=heard),
        }

    def wake(self, values: Values, state: str, packet: Packet) -> Sequence[Step]:
        if packet.up or state != "doze":
            return ()
        poll_s, sifs_s = number(values, "time.ps-poll"), number(values, "time.sifs")
        return (Step("idle", number(values, "time.difs")), Step("transmit", poll_s), Step("idle", sifs_s))

    def transfer(self, values: Values, packet: Packet) -> Sequence[Step]:
        bits = (packet.size + number(values, "size.overhead")) * 8
        air_s = number(values, "time.preamble") + bits / number(values, "rate.data")
        ack_s, sifs_s = number(values, "time.ack"), number(values, "time.sifs")
        if packet.up:
            wait = Step("idle", number(values, "time.difs"))
            return (wait, Step("transmit", air_s), Step("idle", sifs_s), Step("receive", ack_s))
        return (Step("receive", air_s), Step("idle", sifs_s), Step("transmit", ack_s))

    def rest(self, values: Values, *, up: bool, gap_s: float) -> Iterator[Phase]:
        inactivity_s = number(values, "inputs.inactivity")
        if not math.isinf(inactivity_s):
            yield Phase("idle", inactivity_s)
        yield Phase("idle" if math.isinf(inactivity_s) else "doze", math.inf, rests=True)
