"""Packets of an exchange as a ladder: the client on the left, the server on the right, time downwards.

Times are the client's: when a packet left it, or reached it. Phases stand between the packets as the client saw them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.text import Text

Packet = Mapping[str, Any]

LANE = 46
_TIME = 11
LOST = {
    "loss": "lost",
    "queue-full": "queue full",
    "aqm": "dropped by AQM",
    "outage": "no link",
    "retries": "retries exhausted",
    "nat": "no NAT mapping",
}
PHASES = {
    "name_lookup_ns": "name looked up",
    "tcp_connect_ns": "TCP connected",
    "handshake_ns": "handshake done",
    "request_start_ns": "request starts",
    "first_body_sent_ns": "first body byte sent",
    "first_response_byte_ns": "first byte of a response",
    "first_final_byte_ns": "first byte of the final response",
    "end_ns": "end",
}


def ladder(
    packets: Iterable[Packet],
    exchanges: Iterable[Mapping[str, Any]],
    origin_ns: int,
    ends: tuple[str, str] = ("client", "server"),
) -> Iterator[Text]:
    """Lines of at most 100 columns, in the order in which the end on the left, where the uplink begins, saw things."""
    events: list[tuple[int, int, Text]] = [(seen_ns(p), 0, _packet(p, origin_ns)) for p in packets]
    for exchange in exchanges:
        events += [(at, 1, _marker(at, words, origin_ns)) for at, words in _phases(exchange)]
    left, right = ends
    yield Text(f"{'ms':>{_TIME}}  {left:<{LANE // 2}}{right:>{LANE - LANE // 2 + 2}}", style="bold")
    for _, _, line in sorted(events, key=lambda event: event[:2]):
        yield line


def seen_ns(packet: Packet) -> int:
    """When the client sent it or received it; of one that was lost on its way down, when it was lost."""
    return int(packet["arrival_ns"] if packet["uplink"] else packet["departure_ns"] + packet["lateness_ns"])


def _packet(packet: Packet, origin_ns: int) -> Text:
    lost = packet["fate"] in LOST
    name = label(packet)
    room = LANE - len(name) - 2
    shaft = "─" * (room // 2) if lost else "─" * room
    blank = " " * (room - len(shaft))
    arrow = (
        f"{name} {shaft}{'╳' if lost else '▶'}{blank}"
        if packet["uplink"]
        else f"{blank}{'╳' if lost else '◀'}{shaft} {name}"
    )
    line = Text(f"{_ms(seen_ns(packet), origin_ns)}  │")
    line.append(arrow, style="red" if lost else "green" if packet["uplink"] else "blue")
    line.append("│ ")
    line.append(f"{packet['size_bytes']:>5} B")
    for words, style in notes(packet, lost=lost):
        line.append(f"  {words}", style=style)
    return line


def label(packet: Packet) -> str:
    """What a packet is, in a few words."""
    payload = packet["payload_bytes"]
    flags = packet["tcp_flags"]
    if flags is None:
        name = packet["quic_packet"] or packet["transport"].upper()
        return f"{name} {payload}" if payload else str(name)
    words = [word for letter, word in (("S", "SYN"), ("F", "FIN"), ("R", "RST")) if letter in flags]
    if payload:
        words.append(f"data {packet['tcp_sequence']}+{payload}")
    elif "A" in flags:
        words.append("ACK" if words else f"ACK {packet['tcp_acknowledgement']}")
    return " ".join(words)


def notes(packet: Packet, *, lost: bool) -> Iterator[tuple[str, str]]:
    """What became of it, each with a style; nothing of one that simply arrived."""
    if lost:
        yield LOST[packet["fate"]], "bold red"
    if packet["fate"] == "held":
        yield "not delivered by the end", "red"
    if packet["copy"]:
        yield "copy", "yellow"
    if packet["corrupted"]:
        yield "corrupted", "bold red"
    if packet["spurious"]:
        yield "spurious retransmission", "yellow"
    elif packet["retransmission"]:
        yield "retransmission", "bold yellow"


def _phases(exchange: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    yield exchange["start_ns"], f"exchange {exchange['index']} starts"
    for name, words in PHASES.items():
        if exchange[name] is not None:
            yield exchange[name], f"{words}: {exchange['outcome']}" if name == "end_ns" else words


def _marker(at_ns: int, words: str, origin_ns: int) -> Text:
    line = Text(f"{_ms(at_ns, origin_ns)}  ")
    line.append(f"● {words}", style="bold cyan")
    return line


def _ms(at_ns: int, origin_ns: int) -> str:
    return f"{(at_ns - origin_ns) / 1e6:>{_TIME}.3f}"
