"""First retransmissions that come before the answer can: their time-out is shorter than waking and a round trip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.experiment.duration.formula import HEADER_BYTES
from wirelab.experiment.duration.opening import packet_bytes
from wirelab.experiment.duration.path import path
from wirelab.schema import Closed, NewConnection, ProtocolDescription, RequestWorkload, Resumed
from wirelab.schema.link_facts import DirectionFacts
from wirelab.schema.short_timer import ShortTimer
from wirelab.schema.timers import length_ns

if TYPE_CHECKING:
    from wirelab.experiment.grid.scenario import Scenario

LEAST_EXCESS = 1.02
"""An answer that takes no more of the time-out than this is not called late: what it takes is known about so well."""


def short_timer(scenario: Scenario, protocol: ProtocolDescription) -> ShortTimer | None:
    """The first retransmission time-out of a scenario's requests, if it is shorter than an answer takes."""
    workload, timing, facts = scenario.workload, protocol.timing, scenario.facts[0]
    if not isinstance(workload, RequestWorkload):
        return None
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
    return ShortTimer(name=name, is_setting=is_setting, timer_ns=timer_ns, answer_ns=answer_ns, takes=takes)


def _alone_ns(direction: DirectionFacts, size: int) -> int:
    """Sending a packet that meets no other."""
    rates = [each.rate.lone_bps or each.rate.busy_bps for each in direction.stages if each.rate is not None]
    return round(sum(size * 8e9 / rate for rate in rates if rate))
