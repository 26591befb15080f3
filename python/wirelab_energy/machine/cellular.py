"""LTE-M and NB-IoT: RRC states with C-DRX, idle paging with eDRX, and PSM (3GPP TS 36.331, 36.304, 24.301)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from wirelab_energy.machine.base import Key, Phase, State, Step, Values, number, word
from wirelab_energy.packet import Packet


class Cellular:
    """Connected while packets pass and for an inactivity timer behind them, then idle, then in power saving mode."""

    name = "cellular"
    about = (
        "LTE-M or NB-IoT. A packet that finds the radio idle or in power saving mode (PSM) costs setting up an RRC "
        "connection first. Connected, it sends and receives at the rates of its coverage class, a packet at a "
        "time; behind the last one its receiver is on for `drx-after`, then for `time.on` in every `drx-cycle` "
        "(C-DRX, TS 36.321, 5.7), until the network releases the connection after `inactivity`. With release "
        "assistance (`rai`, TS 24.301, 9.9.4.25) that is `time.release` after a packet behind which none follows "
        "within `inactivity`: the client is taken to know. Idle, it listens to a paging occasion every `paging` "
        "cycle (DRX or eDRX, TS 36.304, 7) for `active` (T3324), and then is in PSM (TS 24.301, 5.3.11) until a "
        "packet of its own, or until a tracking-area update every `tau` (T3412), which costs as much as waking and "
        "an active time of its own."
    )
    constants: Mapping[str, Key] = {
        "power.transmit": Key("power", "while it sends at its uplink rate"),
        "power.receive": Key("power", "while it receives or listens"),
        "power.setup": Key("power", "mean while an RRC connection is set up"),
        "power.drx": Key("power", "connected, between the times that C-DRX listens"),
        "power.idle": Key("power", "idle, between paging occasions"),
        "power.psm": Key("power", "in PSM"),
        "energy.page": Key("energy", "one paging occasion, beyond `power.idle`"),
        "time.setup": Key("duration", "setting up an RRC connection from idle"),
        "time.resume": Key("duration", "the same from PSM, and a tracking-area update"),
        "time.on": Key("duration", "C-DRX's on-duration"),
        "time.release": Key("duration", "from the last packet to the release that `rai` asks for"),
        "rate.uplink": Key("rate", "uplink"),
        "rate.downlink": Key("rate", "downlink"),
    }
    inputs: Mapping[str, Key] = {
        "tx-power": Key("word", "output power, which the network controls"),
        "coverage": Key("word", "coverage enhancement level: how often everything is repeated"),
        "rai": Key("word", "release assistance: the client says when nothing follows", ("on", "off")),
        "inactivity": Key("duration", "RRC inactivity timer"),
        "drx-after": Key("duration", "DRX inactivity timer: the receiver stays on for so long"),
        "drx-cycle": Key("period", "C-DRX cycle"),
        "paging": Key("period", "idle: DRX or eDRX cycle"),
        "active": Key("timer", "idle before PSM (T3324); never: no PSM"),
        "tau": Key("cycle", "between tracking-area updates (T3412)"),
    }

    def states(self, values: Values) -> Mapping[str, State]:
        receive = number(values, "power.receive")
        on = min(1.0, number(values, "time.on") / number(values, "inputs.drx-cycle"))
        page_w = number(values, "energy.page") / number(values, "inputs.paging")
        return {
            "setup": State(number(values, "power.setup")),
            "transmit": State(number(values, "power.transmit"), transmits=1),
            "receive": State(receive, receives=1),
            "listen": State(receive, listens=1),
            "drx": State(on * receive + (1 - on) * number(values, "power.drx"), listens=on),
            "idle": State(number(values, "power.idle") + page_w, listens=_paged(page_w, receive)),
            "psm": State(number(values, "power.psm")),
        }

    def wake(self, values: Values, state: str, packet: Packet) -> Sequence[Step]:
        takes = {"idle": "time.setup", "psm": "time.resume"}
        return (Step("setup", number(values, takes[state])),) if state in takes else ()

    def transfer(self, values: Values, packet: Packet) -> Sequence[Step]:
        if packet.up:
            return (Step("transmit", packet.size * 8 / number(values, "rate.uplink")),)
        return (Step("receive", packet.size * 8 / number(values, "rate.downlink")),)

    def rest(self, values: Values, *, up: bool, gap_s: float) -> Iterator[Phase]:
        over_s, active_s = 0.0, number(values, "inputs.active")
        for phase in self._connected(values, gap_s):
            over_s = phase.until_s
            yield phase
        if math.isinf(active_s):
            yield Phase("idle", math.inf, rests=True)
            return
        yield Phase("idle", over_s + active_s)
        tau_s = number(values, "inputs.tau")
        while True:
            # T3412 runs from the end of the connection on.
            updates_s = over_s + tau_s
            yield Phase("psm", max(updates_s, over_s + active_s), rests=True)
            over_s = max(updates_s, over_s + active_s)
            over_s += number(values, "time.resume")
            yield Phase("setup", over_s)
            yield Phase("idle", over_s + active_s)

    def _connected(self, values: Values, gap_s: float) -> Iterator[Phase]:
        if word(values, "inputs.rai") == "on" and gap_s >= number(values, "inputs.inactivity"):
            yield Phase("listen", number(values, "time.release"))
            return
        drx_after_s, inactivity_s = number(values, "inputs.drx-after"), number(values, "inputs.inactivity")
        yield Phase("listen", min(drx_after_s, inactivity_s))
        yield Phase("drx", max(drx_after_s, inactivity_s))


def _paged(page_w: float, receive_w: float) -> float:
    """The share of time with the receiver on that a paging occasion's energy is worth."""
    return min(1.0, page_w / receive_w) if receive_w else 0.0
