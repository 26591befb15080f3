"""One client's packets of a capture, from rows of `wirelab-agent capture`: what its radio would have carried."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.packet import Packet
from wirelab_energy.units import format_duration

Row = Mapping[str, Any]

LARGEST_PACKET = 1500
"""What Ethernet carries: larger ones are segments that a network card cuts or has joined."""
OUT_OF_ORDER_NS = 1_000_000
"""Two queues of a capture put packets less than this out of order; a clock that was set does more."""
_FEW = 8


@dataclass(frozen=True)
class ClientPackets:
    """A client's packets in order of time, and what is to be said of them."""

    packets: tuple[Packet, ...]
    notes: tuple[str, ...]


def client_packets(rows: Iterable[Row], client: str, where: Where, left_out: Sequence[str] = ()) -> ClientPackets:
    """What `client` sent and got. Sizes are those of IP headers, whatever part of a packet was captured. `left_out`
    says what the capture has beside these rows.

    Raises `WirelabError` if `client` is no address, or no packet of the capture is its.
    """
    address = _address(client, where)
    seen = [(row, _parsed(row["source"]), _parsed(row["destination"])) for row in rows]
    if not seen:
        raise WirelabError("has no IP packets that can be read", where, "; ".join(left_out) or None)
    mine = [(row, source, to) for row, source, to in seen if address in (source, to)]
    if not mine:
        ends = Counter(str(end) for _, *both in seen for end in both if end is not None)
        named = ", ".join(each for each, _ in ends.most_common(_FEW))
        more = f" and {len(ends) - _FEW} more" if len(ends) > _FEW else ""
        addresses = f"its addresses, the busiest first: {named}{more}"
        raise WirelabError(f"has no packet of {client}", where, "; ".join([addresses, *left_out]))
    # Where both ends have one address, as on loopback, the agent says who is the client.
    packets = [
        Packet(row["at_ns"], row["uplink"] if source == to else source == address, row["size_bytes"])
        for row, source, to in mine
    ]
    packets.sort(key=lambda packet: packet.time_ns)
    notes = [*_steps_back([row["at_ns"] for row, *_ in seen]), *_notes(packets, len(seen))]
    return ClientPackets(tuple(packets), tuple(notes))


def _steps_back(times_ns: Iterable[int]) -> Iterable[str]:
    """Where the clock was set back, of all packets in the file's order: the first is packet 1."""
    steps = [(before - at, number) for number, (before, at) in enumerate(pairwise(times_ns), 2)]
    back = [(by, number) for by, number in steps if by >= OUT_OF_ORDER_NS]
    if not back:
        return
    furthest, number = max(back, key=lambda step: step[0])
    often = f" {len(back)} times, furthest" if len(back) > 1 else ""
    yield f"time goes back{often} by {format_duration(furthest)} at packet {number}; sorted by time"


def _notes(packets: Sequence[Packet], all_packets: int) -> Iterable[str]:
    if others := all_packets - len(packets):
        yield f"packets of others: {others}, left out"
    if large := sum(packet.size > LARGEST_PACKET for packet in packets):
        yield (
            f"packets of more than {LARGEST_PACKET} bytes: {large}; a network card cuts or joins them, so that a radio "
            "would have carried more packets and headers (ethtool -K DEVICE tso off gso off gro off)"
        )
    if not all(any(packet.up is way for packet in packets) for way in (True, False)):
        yield "all of its packets go one way: the capture may have missed the other"


def _address(client: str, where: Where) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(client)
    except ValueError:
        raise WirelabError(f"'{client}' is not an IP address of a client of {where}", "--client") from None


def _parsed(address: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    return None if address is None else ipaddress.ip_address(address)
