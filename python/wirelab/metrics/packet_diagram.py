"""Packets of an exchange as a packet diagram: the client on the left, the server on the right, time downwards.

Times are the client's: when a packet left it, or reached it. Phases stand between the packets as the client saw them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.text import Text

from wirelab.metrics.packets import LOST, Packet, label, remarks, seen_ns

LANE = 46
_TIME = 11
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


def packet_diagram(
    packets: Iterable[Packet],
    exchanges: Iterable[Mapping[str, Any]],
    origin_ns: int,
    ends: tuple[str, str] = ("client", "server"),
    notes: Mapping[int, tuple[str, str]] | None = None,
) -> Iterator[Text]:
    """Lines of at most 100 columns, in the order in which the end on the left, where the uplink begins, saw things.
    `notes` has more words, and their style, of packets by their `sequence`.
    """
    events: list[tuple[int, int, Text]] = [(seen_ns(p), 0, _packet(p, origin_ns, notes or {})) for p in packets]
    for exchange in exchanges:
        events += [(at, 1, _marker(at, words, origin_ns)) for at, words in _phases(exchange)]
    left, right = ends
    yield Text(f"{'ms':>{_TIME}}  {left:<{LANE // 2}}{right:>{LANE - LANE // 2 + 2}}", style="bold")
    for _, _, line in sorted(events, key=lambda event: event[:2]):
        yield line


def _packet(packet: Packet, origin_ns: int, notes: Mapping[int, tuple[str, str]]) -> Text:
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
    own = notes.get(packet["sequence"])
    for words, style in (*remarks(packet), *([own] if own is not None else [])):
        line.append(f"  {words}", style=style)
    return line


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
