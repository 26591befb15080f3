"""Links over which a protocol cannot open a connection: its bytes take longer than its client waits, or its smallest
packet does not fit. Known from the plan and the link's facts.
"""

from __future__ import annotations

from collections.abc import Iterator

from wirelab.experiment.duration.path import Way, path
from wirelab.experiment.link.table import LANE_MTU
from wirelab.schema import AddressFamily, LinkFacts, LinkSpec, Persistent, ProtocolDescription, PubSub, Stream
from wirelab.schema.plan import Scenario
from wirelab.schema.timers import length_ns
from wirelab.units import format_duration, format_rate, format_size

UDP_HEADER_BYTES, IPV6_MORE_BYTES = 28, 20
"""Of a UDP datagram over IPv4 (RFC 791, RFC 768), and what IPv6 has more (RFC 8200)."""


def packet_bytes(payload_bytes: int, link: LinkSpec) -> int:
    """IP bytes of a UDP datagram."""
    return payload_bytes + UDP_HEADER_BYTES + (IPV6_MORE_BYTES if link.family is AddressFamily.IPV6 else 0)


def cannot_open(scenario: Scenario, protocol: ProtocolDescription, facts: LinkFacts) -> str | None:
    """Why the client's link cannot carry a new connection of the protocol; None if it may."""
    return _too_small(scenario, protocol) or _too_slow(scenario, protocol, facts)


def _too_small(scenario: Scenario, protocol: ProtocolDescription) -> str | None:
    least, link = protocol.timing.least_datagram_bytes, scenario.link
    mtu = link.mtu or LANE_MTU
    if least is None or (packet := packet_bytes(least, link)) <= mtu:
        return None
    return (
        f"{scenario.link_name} has an MTU of {mtu} B, and {protocol.name} opens connections with packets of {packet} B"
    )


def _too_slow(scenario: Scenario, protocol: ProtocolDescription, facts: LinkFacts) -> str | None:
    """The direction with more to carry decides: it is the least that opening takes, for each direction also waits for
    the other, and link headers come on top.
    """
    opening = protocol.timing.opening_bytes
    if opening is None:
        return None
    met = path(facts)
    takes_ns, slower = max(
        ((_sending_ns(way, size), way) for way, size in zip(met.ways, opening, strict=True)), key=lambda each: each[0]
    )
    limit_ns, limit = min(_limits(scenario, protocol), default=(takes_ns, ""))
    if takes_ns <= limit_ns or slower.rate_bps is None:
        return None
    up, down = map(format_size, opening)
    return (
        f"{scenario.link_name} carries {format_rate(slower.rate_bps)}: opening {protocol.name} ({up} up, {down} down) "
        f"takes {format_duration(takes_ns)} at least, and {limit} {format_duration(limit_ns)}"
    )


def _sending_ns(way: Way, size: int) -> float:
    return way.sending_ns(size, 1)


def _limits(scenario: Scenario, protocol: ProtocolDescription) -> Iterator[tuple[int, str]]:
    """Each with the words before its length. What a time-out of the workload ends, a persistent connection may open
    later.
    """
    if (given := protocol.timing.opening_limit) is not None and (ns := length_ns(given, protocol, scenario.settings)):
        yield ns, f"{given.name} gives up after" if given.fixed_ns is not None else f"{given.name} is"
    workload = scenario.workload
    lasts = isinstance(getattr(workload, "connection", None), Persistent) or isinstance(workload, PubSub | Stream)
    if not lasts:
        yield workload.timeout_ns, "workload.timeout is"
