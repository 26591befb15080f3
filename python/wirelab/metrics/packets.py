"""Packets of a packet log as the agent dissects them: which belong to an exchange, and what each is, in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from wirelab import agent
from wirelab.errors import WirelabError
from wirelab.schema import LinkSpec
from wirelab.schema.base import Received
from wirelab.schema.campaign import PACKET_LOG, packet_log
from wirelab.schema.document import parse_document
from wirelab.schema.plan import Scenario

Packet = Mapping[str, Any]

MAGIC = b"WLPL"
_FIXED_BYTES, _END_BYTES = 40, 18
"""Of a record before its packet bytes, and of the outer end of a packet that a NAT translated."""
_OUTCOME_AT, _LENGTH_AT = 10, 11
_ORIGINATED, _TRANSLATED, _COPY = 0x10, 0x20, 0x80
"""Flags in the byte of the outcome."""
_OUTCOME, _REST = 0x0F, 8
"""The outcome in that byte, and the one of a record that is not a packet."""
SERVER, PROXY = "server", "proxy"
LOST = {
    "loss": "lost",
    "queue-full": "queue full",
    "aqm": "dropped by AQM",
    "outage": "no link",
    "retries": "retries exhausted",
    "nat": "no NAT mapping",
}


class _Header(Received):
    """Of the header of a packet log, what was logged."""

    link: LinkSpec


def dissected(log: Path, heard: Callable[[str], None] | None = None) -> list[dict[str, Any]]:
    """Every packet of a log; `heard` gets what the agent says if the end of the log is torn."""
    lines = agent.ask(agent.find_agent(), ["dissect"], heard=heard, files=[str(log)]).splitlines()
    return [json.loads(line) for line in lines]


def link_of(log: Path) -> LinkSpec:
    """The link in the header of a log that the agent could read (`docs/reference/files.md`).

    Raises `WirelabError` with the key if the header has another link than this version writes.
    """
    with log.open("rb") as file:
        header = _read_header(file)
    return parse_document(header, log, _Header, None, "log the packets again").link


def records_of(log: Path) -> tuple[bytes, list[bytes]]:
    """The header of a log that the agent could read, and the records of its packets as bytes, in the order in which
    they are dissected (`docs/reference/files.md`). A torn last one is left out.
    """
    with log.open("rb") as file:
        header = _read_header(file)
        return header, sorted(_records(file), key=_arrival)


def heads_of(log: Path) -> list[bytes]:
    """The first bytes of each packet, as the log keeps them, in the order in which they are dissected. Checksums are
    among them, so that other contents of a packet show.
    """
    return [record[_FIXED_BYTES:] for record in records_of(log)[1]]


def first_arrival_ns(log: Path) -> int | None:
    """When the first packet reached the link; None if no log or no packet is there."""
    if not log.exists():
        return None
    with log.open("rb") as file:
        _read_header(file)
        return min((_arrival(record)[0] for record in _records(file)), default=None)


def _read_header(file: BinaryIO) -> bytes:
    file.seek(len(MAGIC))
    return file.read(int.from_bytes(file.read(4), "little"))


def _records(file: BinaryIO) -> Iterator[bytes]:
    """Those of packets behind the header, in their order in the file."""
    while len(fixed := file.read(_FIXED_BYTES)) == _FIXED_BYTES:
        size = fixed[_LENGTH_AT] + (_END_BYTES if fixed[_OUTCOME_AT] & _TRANSLATED else 0)
        if len(rest := file.read(size)) == size and fixed[_OUTCOME_AT] & _OUTCOME != _REST:
            yield fixed + rest


def _arrival(record: bytes) -> tuple[int, int, int]:
    """Order of arrival, each packet before its reset and its copies."""
    flags = record[_OUTCOME_AT]
    return int.from_bytes(record[:8], "little"), flags & _ORIGINATED, flags & _COPY


def packets_of(folder: Path, exchanges: list[dict[str, Any]], *, whole: bool) -> list[dict[str, Any]]:
    """Packets of the trial's exchanges, or of one: those of its connection, and on a persistent one those of its time.
    A load has several connections, so its packets are those of its time too. Background traffic is left out if the
    ports of all connections are known.
    """
    packets = _of_trial(folder / PACKET_LOG)
    loads = any(exchange.get("load_time_ns") is not None or exchange.get("connections") for exchange in exchanges)
    if whole:
        ports = {exchange["local_port"] for exchange in exchanges}
        known = ports and None not in ports and not loads
        return [p for p in packets if p["client_port"] in ports] if known else packets
    [exchange] = exchanges
    port, start, end = exchange["local_port"], exchange["start_ns"], exchange["end_ns"]
    mine = [p for p in packets if port is None or p["client_port"] == port]
    if exchange["connection_reused"] or port is None or loads:
        return [p for p in (packets if loads else mine) if start <= p["arrival_ns"] <= end]
    return mine


def packets_behind_proxy(
    folder: Path, scenario: Scenario, exchange: dict[str, Any]
) -> tuple[str, tuple[str, str], list[dict[str, Any]]]:
    """The link from the proxy to its origin, its ends, near side first, and what went over it during the exchange."""
    both_ways = ((PROXY, SERVER), (SERVER, PROXY))
    link, ends = next(
        (link, ends) for link in scenario.topology for ends in both_ways if ends[0] in link.near and ends[1] in link.far
    )
    packets = _of_trial(folder / packet_log(link.name))
    during = [p for p in packets if exchange["start_ns"] <= p["arrival_ns"] <= exchange["end_ns"]]
    return link.name, ends, during


def seen_ns(packet: Packet) -> int:
    """When the client sent it or received it; of one that was lost on its way down, when it was lost."""
    return int(packet["arrival_ns"] if packet["uplink"] else packet["departure_ns"] + packet["lateness_ns"])


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


def remarks(packet: Packet) -> Iterator[tuple[str, str]]:
    """What happened to it, each with a style for a terminal; nothing of one that simply arrived."""
    if packet["fate"] in LOST:
        yield LOST[packet["fate"]], "bold red"
    if packet["fate"] == "held":
        yield "not delivered by the end", "red"
    if packet["copy"]:
        yield "copy", "yellow"
    if packet["originated"]:
        yield "reset by the NAT", "yellow"
    if packet["rebound"]:
        yield f"NAT gives {packet['outer_end']}", "bold yellow"
    if packet["corrupted"]:
        yield "corrupted", "bold red"
    if packet["spurious"]:
        yield "spurious retransmission", "yellow"
    elif packet["retransmission"]:
        yield "retransmission", "bold yellow"


def _of_trial(log: Path) -> list[dict[str, Any]]:
    if not log.exists():
        raise WirelabError(f"{log.parent} has no {log.name}", hint="the trial never used its link")
    return dissected(log)
