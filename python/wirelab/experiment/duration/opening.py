"""Links over which a protocol cannot open a connection: its bytes take longer than its client waits, or its smallest
packet does not fit. Known from the plan and the link's facts. What they leave open is not refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from wirelab.experiment.duration.path import Way, path
from wirelab.experiment.library import BUILTIN
from wirelab.experiment.link.table import LANE_MTU
from wirelab.schema import AddressFamily, LinkFacts, LinkSpec, Persistent, ProtocolDescription, PubSub, Stream
from wirelab.schema.plan import Scenario
from wirelab.schema.timers import length_ns
from wirelab.units import format_duration, format_rate, format_size

UDP_HEADER_BYTES, IPV6_MORE_BYTES = 28, 20
"""Of a UDP datagram over IPv4 (RFC 791, RFC 768), and what IPv6 has more (RFC 8200)."""
WHOLE = 1, 1
"""All bytes of each direction, as one flight."""


class _Limit(NamedTuple):
    """Of opening a connection."""

    length_ns: int
    words: str
    """Before its length."""
    flights: tuple[int, int]
    """Up and down, in how many flights the bytes go: the limit begins again with each."""


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
    found = [each for limit in _limits(scenario, protocol) if (each := _exceeded(limit, opening, facts)) is not None]
    if not found:
        return None
    limit, takes_ns, rate_bps = min(found, key=lambda each: each[0].length_ns)
    up, down = map(format_size, opening)
    what = f"opening {protocol.name} ({up} up, {down} down)"
    if limit.flights != WHOLE:
        what = f"a flight of {what}"
    return (
        f"{scenario.link_name} carries {format_rate(rate_bps)}: {what} takes {format_duration(takes_ns)} at least, and "
        f"{limit.words} {format_duration(limit.length_ns)}"
    )


def _exceeded(limit: _Limit, opening: tuple[int, int], facts: LinkFacts) -> tuple[_Limit, float, float] | None:
    """What the slower direction takes of a limit that is too short for it, and its rate.

    The largest of several flights has the mean of their bytes or more. At the mean rate of a duty cycle its time
    includes the rest after it, before which the next packet does not leave.
    """
    each = zip(path(facts).ways, opening, limit.flights, strict=True)
    takes_ns, way = max(((way.sending_ns(size / flights, 1), way) for way, size, flights in each), key=_first)
    return None if takes_ns <= limit.length_ns or way.rate_bps is None else (limit, takes_ns, way.rate_bps)


def _first(pair: tuple[float, Way]) -> float:
    return pair[0]


def _limits(scenario: Scenario, protocol: ProtocolDescription) -> Iterator[_Limit]:
    """TCP and QUIC limit a silence, and DTLS retransmissions, of which no time is known. What a time-out of the
    workload ends, a persistent connection may open later. How long a third-party client waits is not known.
    """
    timing = protocol.timing
    given = timing.opening_limit if scenario.implementation.client == BUILTIN else None
    if given is not None and (ns := length_ns(given, protocol, scenario.settings)):
        trips = max(1, timing.round_trips.transport + timing.round_trips.security + timing.round_trips.session)
        words = f"{given.name} gives up after" if given.fixed_ns is not None else f"{given.name} is"
        # The client's last flight follows the last answer.
        yield _Limit(ns, words, (trips + 1, trips))
    workload = scenario.workload
    lasts = isinstance(getattr(workload, "connection", None), Persistent) or isinstance(workload, PubSub | Stream)
    if not lasts:
        yield _Limit(workload.timeout_ns, "workload.timeout is", WHOLE)
