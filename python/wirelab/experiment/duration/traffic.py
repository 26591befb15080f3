"""What background traffic costs, roughly and on average: packets on the links, and waiting behind its queues.

Bulk fills the queue in front of the slowest stage that it passes, and keeps that stage busy. On a shared medium the
access point has one queue, and each station its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wirelab.experiment.duration.path import PACKET_BYTES, Path, Way, path
from wirelab.experiment.grid.scenario import Scenario
from wirelab.schema import LinkFacts
from wirelab.schema.topology import BulkTraffic, PingTraffic, Traffic

ACKS = 0.5
"""Acknowledgements for each full packet (RFC 9293, section 3.8.6.3)."""
LEAST_NS = 20_000
"""For each packet where no link limits the rate: the hosts do."""
CLIENT = "client"


def background_packets_per_s(scenario: Scenario) -> float:
    """Packets of background traffic over all links, both ways."""
    total = 0.0
    for facts, traffic in _by_link(scenario):
        met = path(facts)
        asked = sum(_pings_per_s(each) for each in traffic if isinstance(each, PingTraffic))
        ways = {_is_up(scenario, each) for each in traffic if isinstance(each, BulkTraffic)}
        if met.shared:
            most = (1 + ACKS) * 1e9 / _packet_ns(met.uplink)
            total += most if ways else min(asked, most)
        else:
            total += asked + sum((1 + ACKS) * 1e9 / _packet_ns(_way(met, up=up)) for up in ways)
    return total


def queueing_ns(scenario: Scenario) -> int:
    """How long a round trip of the client waits behind bulk on its own link."""
    total = 0.0
    for facts, traffic in _by_link(scenario):
        bulk = [each for each in traffic if isinstance(each, BulkTraffic)]
        if facts is not scenario.facts[0] or not bulk:
            continue
        met = path(facts)
        ways = {_is_up(scenario, each) for each in bulk}
        for up in ways:
            way = _way(met, up=up)
            queued = way.queue_bytes / PACKET_BYTES
            if not met.shared:
                total += queued * _packet_ns(way)
            elif not up or any(_sender(each) == CLIENT for each in bulk if _is_up(scenario, each)):
                # Between two packets of the queue the others on the air have their turns.
                total += max(1.0, queued) * _packet_ns(way) * (len(ways) + ACKS)
    return round(total)


def _by_link(scenario: Scenario) -> Iterable[tuple[LinkFacts, list[Traffic]]]:
    client, *own = scenario.facts
    if not scenario.topology:
        return [(client, list(scenario.traffic))]
    others = iter(own)
    found: list[tuple[LinkFacts, list[Traffic]]] = [
        (client if each.link is None else next(others), []) for each in scenario.topology
    ]
    for traffic in scenario.traffic:
        found[_link_of(scenario, traffic)][1].append(traffic)
    return found


def _link_of(scenario: Scenario, traffic: Traffic) -> int:
    """The first link with its hosts on the two sides."""
    ends = {traffic.source, traffic.to}
    return next(
        index
        for index, link in enumerate(scenario.topology)
        if any(here in link.near and there in link.far for here in ends for there in ends - {here})
    )


def _is_up(scenario: Scenario, bulk: BulkTraffic) -> bool:
    """Whether its packets go from the near side to the far one."""
    near: Sequence[str] = scenario.topology[_link_of(scenario, bulk)].near if scenario.topology else (CLIENT,)
    return _sender(bulk) in near


def _sender(bulk: BulkTraffic) -> str:
    return bulk.source if bulk.direction == "upload" else bulk.to


def _way(met: Path, *, up: bool) -> Way:
    return met.uplink if up else met.downlink


def _packet_ns(way: Way) -> float:
    """How far apart full packets leave."""
    return max(way.sending_ns(PACKET_BYTES, 1), LEAST_NS)


def _pings_per_s(ping: PingTraffic) -> float:
    """Requests and answers, in fragments."""
    return 2 * ping.flows * -(-ping.payload_bytes // PACKET_BYTES) * 1e9 / ping.interval_ns
