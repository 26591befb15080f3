"""First retransmissions that come before the answer can: their time-out is shorter than waking and a round trip."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from wirelab.experiment.duration.formula import HEADER_BYTES
from wirelab.experiment.duration.opening import packet_bytes
from wirelab.experiment.duration.path import path
from wirelab.schema import Closed, LinkFacts, NewConnection, ProtocolDescription, RequestWorkload, Resumed, link_key
from wirelab.schema.link_facts import DirectionFacts
from wirelab.schema.plan import Plan, Scenario
from wirelab.schema.timers import length_ns

LEAST_EXCESS = 1.02
"""An answer that takes no more of the time-out than this is not called late: what it takes is known about so well."""
MARGIN = 2
"""A time-out that is proposed is so often what an answer takes."""


class ShortTimer(NamedTuple):
    """A first retransmission time-out that is too short for a link."""

    protocol: str
    link: str
    name: str
    """Of the setting, or of what has it, in words."""
    is_setting: bool
    timer_ns: int
    answer_ns: int
    """From the first packet to its answer."""
    takes: str
    """What that time consists of, in words."""

    @property
    def enough_s(self) -> int:
        """A time-out that is long enough, with a margin."""
        return ceil(MARGIN * self.answer_ns / 1e9)


def short_timers(plan: Plan) -> list[ShortTimer]:
    """Of each protocol and link the one that is shortest by most."""
    found: dict[tuple[str, str, str], ShortTimer] = {}
    for scenario in plan.scenarios:
        protocol, facts = plan.known.protocol(scenario.protocol), plan.link_facts.get(link_key(scenario.link))
        if protocol is None or facts is None or not isinstance(scenario.workload, RequestWorkload):
            continue
        each = _short_timer(scenario, protocol, facts)
        if each is None:
            continue
        key = each.protocol, each.link, each.name
        found[key] = max(found.get(key, each), each, key=lambda short: short.answer_ns - short.timer_ns)
    return list(found.values())


def _short_timer(scenario: Scenario, protocol: ProtocolDescription, facts: LinkFacts) -> ShortTimer | None:
    workload, timing = scenario.workload, protocol.timing
    assert isinstance(workload, RequestWorkload)
    opens = isinstance(workload.connection, NewConnection | Resumed) and timing.opening_timer is not None
    timer = timing.opening_timer if opens else None
    if timer is not None:
        name, is_setting, timer_ns = timer.name, timer.fixed_ns is None, length_ns(timer, protocol, scenario.settings)
        datagram = timing.least_datagram_bytes
        sizes = (HEADER_BYTES if datagram is None else packet_bytes(datagram, scenario.link),) * 2
    elif timing.timer_setting is not None and protocol.unanswered(workload.kind, scenario.settings) is None:
        name, is_setting = timing.timer_setting, True
        timer_ns = int(scenario.settings[name]) * 10**6
        sizes = workload.upload_bytes + HEADER_BYTES, max(workload.downloads) + HEADER_BYTES
    else:
        return None
    met = path(facts)
    trip_ns = met.rtt_ns + sum(
        _alone_ns(way, size) for way, size in zip((facts.uplink, facts.downlink), sizes, strict=True)
    )
    gap_ns = 0 if isinstance(workload.arrival, Closed) else round(workload.arrival.gap_ns)
    before_ns = met.waking_ns(gap_ns, 0, 1, 0.0)
    answer_ns = trip_ns + met.waking_ns(gap_ns, trip_ns, 1, 0.0)
    if not timer_ns or answer_ns <= LEAST_EXCESS * timer_ns:
        return None
    # A radio that sleeps again before the answer comes, as in connected DRX, receives it in its next cycle.
    sleeps = answer_ns > trip_ns + before_ns
    *others, last = ["waking"] * bool(before_ns) + ["a round trip"] + ["the radio's sleep before the answer"] * sleeps
    takes = " and ".join(filter(None, (", ".join(others), last)))
    return ShortTimer(protocol.name, scenario.link_name, name, is_setting, timer_ns, answer_ns, takes)


def _alone_ns(direction: DirectionFacts, size: int) -> int:
    """Sending a packet that meets no other."""
    rates = [each.rate.lone_bps or each.rate.busy_bps for each in direction.stages if each.rate is not None]
    return round(sum(size * 8e9 / rate for rate in rates if rate))
