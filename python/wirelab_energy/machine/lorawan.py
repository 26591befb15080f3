"""LoRaWAN class A; times on the air by Semtech's formula (SX1276 data sheet, 4.1.1.6)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from wirelab_energy.machine.base import Key, Phase, State, Step, Values, number, word
from wirelab_energy.packet import Packet

SPREADING = {"SF12": 12, "SF11": 11, "SF10": 10, "SF9": 9, "SF8": 8, "SF7": 7}
"""Spreading factors of EU868's DR0 to DR5 (RP002)."""
MOST_BYTES = {"SF12": 51, "SF11": 51, "SF10": 51, "SF9": 115, "SF8": 222, "SF7": 222}
"""Application payload of a frame (RP002, EU863-870, repeater-compatible)."""
FRAME_BYTES = 13
"""MHDR 1, DevAddr 4, FCtrl 1, FCnt 2, FPort 1, MIC 4 (LoRaWAN 1.0.3, chapter 4)."""
BANDWIDTH_HZ = 125_000


def symbol_s(spreading: int) -> float:
    """A symbol at 125 kHz."""
    return float(2**spreading / BANDWIDTH_HZ)


def airtime_s(size: int, spreading: int, *, preamble: float = 8, coding: int = 1, crc: bool = True) -> float:
    """A LoRa frame of `size` bytes with an explicit header, at 125 kHz; `coding` 1 is 4/5. Low data rate optimisation
    is on where a symbol lasts longer than 16 ms."""
    slow = 1 if symbol_s(spreading) > 0.016 else 0
    bits = 8 * size - 4 * spreading + 28 + (16 if crc else 0)
    symbols = 8 + max(0, math.ceil(bits / (4 * (spreading - 2 * slow))) * (coding + 4))
    return (preamble + 4.25 + symbols) * symbol_s(spreading)


class LoRaWan:
    """Sends when it likes, and listens twice behind each frame."""

    name = "lorawan"
    about = (
        "LoRaWAN 1.0.3, class A, EU868 at 125 kHz: a packet goes in frames as long as the data rate allows, one "
        "behind the other, each of them on the air as long as Semtech's formula says. Behind the last one the "
        "receiver listens for a preamble 1 s later at the same rate, and 2 s later at SF12; what is received then "
        "lasts its own time. The duty cycle is the link's business: the log has the packets as late as they were."
    )
    constants: Mapping[str, Key] = {
        "power.transmit": Key("power", "while it sends"),
        "power.receive": Key("power", "while it receives or listens"),
        "power.wait": Key("power", "between a frame and its receive windows"),
        "power.sleep": Key("power", "asleep"),
        "count.preamble": Key("count", "symbols of the preamble"),
        "count.window1": Key("count", "symbols for which the first receive window listens for a preamble"),
        "count.window2": Key("count", "the same of the second, at SF12"),
        "power.prepare": Key("power", "waking up before a frame"),
        "power.close": Key("power", "behind the last receive window, before sleep"),
        "time.prepare": Key("duration", "waking up before a frame"),
        "time.close": Key("duration", "from the end of the last receive window to sleep"),
        "time.rx1": Key("duration", "RECEIVE_DELAY1"),
        "time.rx2": Key("duration", "RECEIVE_DELAY2"),
    }
    inputs: Mapping[str, Key] = {
        "spreading": Key("word", "spreading factor of uplink frames and of the first window", tuple(SPREADING)),
        "tx-power": Key("word", "output power"),
    }

    def states(self, values: Values) -> Mapping[str, State]:
        receive = number(values, "power.receive")
        return {
            "transmit": State(number(values, "power.transmit"), transmits=1),
            "receive": State(receive, receives=1),
            "window": State(receive, listens=1),
            "wait": State(number(values, "power.wait")),
            "prepare": State(number(values, "power.prepare")),
            "close": State(number(values, "power.close")),
            "sleep": State(number(values, "power.sleep")),
        }

    def wake(self, values: Values, state: str, packet: Packet) -> Sequence[Step]:
        return (Step("prepare", number(values, "time.prepare")),) if packet.up and state == "sleep" else ()

    def transfer(self, values: Values, packet: Packet) -> Sequence[Step]:
        most, preamble = MOST_BYTES[word(values, "inputs.spreading")], number(values, "count.preamble")
        spreading = SPREADING[word(values, "inputs.spreading")]
        sizes = [most] * (packet.size // most) + ([packet.size % most] if packet.size % most or not packet.size else [])
        # A gateway's frames have no CRC behind their payload (LoRaWAN 1.0.3, 3.2).
        air_s = sum(airtime_s(size + FRAME_BYTES, spreading, preamble=preamble, crc=packet.up) for size in sizes)
        return (Step("transmit" if packet.up else "receive", air_s),)

    def rest(self, values: Values, *, up: bool, gap_s: float) -> Iterator[Phase]:
        over_s = 0.0
        if up:
            spreading = SPREADING[word(values, "inputs.spreading")]
            for window, factor in ((1, spreading), (2, SPREADING["SF12"])):
                opens_s = number(values, f"time.rx{window}")
                over_s = opens_s + number(values, f"count.window{window}") * symbol_s(factor)
                yield Phase("wait", opens_s)
                yield Phase("window", over_s)
        yield Phase("close", over_s + number(values, "time.close"))
        yield Phase("sleep", math.inf, rests=True)
