"""Packets of a packet log as a table, in the order in which they came to the link."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from wirelab import agent
from wirelab.cli.text import columns
from wirelab.errors import RunError, WirelabError
from wirelab.metrics.packets import Packet, dissected, label, link_of, remarks
from wirelab.schema import is_netem

BY_NETEM = "netem ran this link: shown is when packets entered netem, not whether they were delivered"
HEADINGS = ("ms", "way", "bytes", "ports", "packet", "delay ms", "error ms", "outcome")
_NUMBERS = (0, 2, 5, 6)
_READS = (
    "show reads campaigns, trials and packet logs: of wirelab link --log, and packets.wlpl of a trial; "
    "Wireshark reads captures"
)


def is_packet_log(path: Path) -> bool:
    """Whether this is shown as a packet log: no other file can be shown, and `packet_table` says what it is instead."""
    return path.is_file()


def packet_table(log: Path) -> str:
    """A line for each packet of a log, behind what it does not know. Tells people if its end is torn."""
    try:
        packets = table(dissected(log, _warn))
    except RunError as error:
        raise WirelabError(error.what.removeprefix(f"{agent.NAME} dissect: error: "), hint=_READS) from None
    return f"{BY_NETEM}\n{packets}" if is_netem(link_of(log)) else packets


def _warn(words: str) -> None:
    click.echo(words, err=True)


def table(packets: Iterable[Packet]) -> str:
    """A line for each packet, times in milliseconds after the first one's arrival.

    The delay is what the link computed for the packet; the timing error comes on top. A packet that never left has
    neither.
    """
    read = list(packets)
    origin = min((packet["arrival_ns"] for packet in read), default=0)
    return columns([HEADINGS, *(_row(packet, origin) for packet in read)], right=_NUMBERS)


def _row(packet: Packet, origin_ns: int) -> tuple[str, ...]:
    left = packet["fate"] == "delivered"
    delay_ns = packet["departure_ns"] - packet["arrival_ns"]
    words = [said for said, _ in remarks(packet)]
    ports = [packet["client_port"], packet["server_port"]]
    return (
        _ms(packet["arrival_ns"] - origin_ns),
        "up" if packet["uplink"] else "down",
        str(packet["size_bytes"]),
        "-".join(map(str, ports)) if None not in ports else "",
        label(packet),
        _ms(delay_ns) if left else "",
        _ms(packet["lateness_ns"]) if left else "",
        ", ".join(["delivered", *words] if left else words),
    )


def _ms(ns: int) -> str:
    return f"{ns / 1e6:.3f}"
