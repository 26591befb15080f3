"""How long an exchange takes, by one formula: round trips + bytes / min(rate, what one flow reaches) + timers of lost
packets + what is fixed (`docs/design/duration.md`). Knows no scenario, no protocol and no stage of a link.

At random loss a flow reaches what its congestion control does (`congestion`), and under flow control a window for each
round trip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, log2
from typing import NamedTuple

from wirelab.experiment.duration.congestion import Control
from wirelab.experiment.duration.path import Path, Way

FIRST_TIMER_NS, LEAST_TIMER_NS = 10**9, 2 * 10**8
"""Of a connection's first packet (RFC 6298, section 2.1; RFC 9002, section 6.2.2), and Linux's smallest later one."""
INITIAL_WINDOW_BYTES, HEADER_BYTES = 14_480, 60
"""Ten segments (RFC 6928), and the headers of a packet with a coded request's."""
PROCESSING_NS = 10**6
_RENO = Control()
WINDOW_NS = 35_000
"""CPU time of both ends for each window of a stream that is filled and given back, by h2window2017 at 255 bytes."""


class Limit(StrEnum):
    """What most of an exchange's time goes to."""

    ROUND_TRIPS = "round trips"
    RATE = "rate"
    LOSS = "loss"
    FLOW_CONTROL = "flow control"
    FIXED = "fixed"


@dataclass(frozen=True)
class Parts:
    """What an exchange's time is made of."""

    round_trips: int
    rtt_ns: int
    """Of one, waiting behind background traffic included."""
    transfer_ns: int
    """Bytes of both directions at what the flow reaches."""
    recovery_ns: int
    """Timers of lost packets."""
    fixed_ns: int
    """Processing, waking the radio, outages, what a program holds back."""
    timeout_ns: int
    reached: Limit
    """What a flow's rate is limited by: `RATE`, `LOSS` or `FLOW_CONTROL`."""
    flow_bps: float | None = None
    """What one connection reaches in the direction with the longer transfer; none if nothing limits it."""
    way: Way | None = None
    """That direction; none of an exchange that is no transfer."""

    @property
    def patient_ns(self) -> int:
        """If nobody gave up."""
        return self.round_trips * self.rtt_ns + self.transfer_ns + self.recovery_ns + self.fixed_ns

    @property
    def total_ns(self) -> int:
        return min(self.patient_ns, self.timeout_ns)

    @property
    def limit(self) -> Limit:
        """The cause of the largest part."""
        costs = {Limit.ROUND_TRIPS: self.round_trips * self.rtt_ns, Limit.FIXED: self.fixed_ns}
        costs[self.reached] = self.transfer_ns
        costs[Limit.LOSS] = costs.get(Limit.LOSS, 0) + self.recovery_ns
        return max(costs, key=lambda cause: costs[cause])


def flow_rate_bps(
    way: Way, rtt_ns: int, window_bytes: int | None = None, control: Control = _RENO
) -> tuple[float | None, Limit]:
    """What one flow reaches in a direction, and what limits it; none if nothing does."""
    reached: list[tuple[float, Limit]] = [] if way.rate_bps is None else [(way.rate_bps, Limit.RATE)]
    if (at_loss := control.reached_bps(way.loss, rtt_ns)) is not None:
        reached.append((at_loss, Limit.LOSS))
    if window_bytes and rtt_ns:
        reached.append((window_bytes * 8e9 / rtt_ns, Limit.FLOW_CONTROL))
    return min(reached, default=(None, Limit.RATE), key=lambda each: each[0] or 0.0)


@dataclass(frozen=True)
class Flow:
    """What an exchange asks of its path."""

    bodies: tuple[int, int]
    """Up and down."""
    opening: int
    """Round trips before the first request."""
    asking: int
    """Round trips of requests, in which a lost packet is noticed by a timer alone."""
    slow_start_bytes: int = 0
    """Of one connection and direction; 0 if each packet waits for an answer to the one before."""
    window_bytes: int | None = None
    """What flow control lets be on its way."""
    windows: int = 0
    """That are filled and given back."""
    connections: int = 1
    control: Control = _RENO
    timer_ns: int | None = None
    """The protocol's own first retransmission time-out."""
    held_back_ns: int = 0
    """What the endpoints wait of their own accord."""
    gap_ns: int = 0
    """From one exchange to the next, in which a radio may fall asleep."""
    first_share: float = 0.0
    """Of exchanges that begin with the trial or with a burst, in the radio's deepest sleep."""


def exchange_time(flow: Flow, met: Path, queueing_ns: int, timeout_ns: int) -> Parts:
    """The formula."""
    rtt_ns = met.rtt_ns + queueing_ns
    round_trips = flow.opening + max(flow.asking, _slow_start_trips(met, rtt_ns, flow))
    turns = max(round_trips, 1)
    spent = [
        _transfer(way, body + turns * HEADER_BYTES, rtt_ns, flow)
        for way, body in zip(met.ways, flow.bodies, strict=True)
    ]
    longer = max(spent, key=lambda each: each.ns)
    fixed_ns = PROCESSING_NS + flow.held_back_ns + flow.windows * WINDOW_NS + sum(way.pause_ns for way in met.ways)
    fixed_ns += met.waking_ns(flow.gap_ns, rtt_ns + PROCESSING_NS, turns, flow.first_share)
    return Parts(
        round_trips=round_trips,
        rtt_ns=rtt_ns,
        transfer_ns=round(sum(each.ns for each in spent)),
        recovery_ns=round(_recovery_ns(flow, met, rtt_ns, timeout_ns)),
        fixed_ns=fixed_ns,
        timeout_ns=timeout_ns,
        reached=longer.limit,
        flow_bps=longer.flow_bps,
        way=longer.way,
    )


class _Transfer(NamedTuple):
    """Bytes of one direction."""

    ns: float
    limit: Limit
    flow_bps: float | None
    way: Way


def _transfer(way: Way, size: int, rtt_ns: int, flow: Flow) -> _Transfer:
    """Time for so many bytes. A flow that ends before it loses a packet, or within a window, is limited by neither."""
    lossless = replace(way, loss=0.0) if size * way.loss < flow.control.packet_bytes * flow.connections else way
    window = flow.window_bytes if flow.window_bytes is not None and size > flow.window_bytes else None
    one_bps, limit = flow_rate_bps(lossless, rtt_ns, window, flow.control)
    if one_bps is None:
        return _Transfer(0.0, limit, None, way)
    all_bps = one_bps
    if limit is Limit.LOSS:
        all_bps = min(one_bps * flow.connections, way.rate_bps or one_bps * flow.connections)
    return _Transfer(size * 8e9 / all_bps, limit, one_bps, way)


def _slow_start_trips(met: Path, rtt_ns: int, flow: Flow) -> int:
    """The initial window, and twice as much after each round trip (RFC 5681, section 3.1), until all is sent or as much
    is on its way as the path or a window holds.
    """
    if not flow.slow_start_bytes:
        return 0
    rates = [way.rate_bps / flow.connections for way in met.ways if way.rate_bps is not None]
    held = [min(rates) * rtt_ns / 8e9] if rates else []
    held += [] if flow.window_bytes is None else [flow.window_bytes]
    return max(1, ceil(log2(1 + min([flow.slow_start_bytes, *held]) / INITIAL_WINDOW_BYTES)))


def _recovery_ns(flow: Flow, met: Path, rtt_ns: int, timeout_ns: int) -> float:
    """Of packets that handshakes and requests lose; and of those of a body whose repetition is lost too, for else
    duplicate acknowledgements tell of a loss sooner than a timer.
    """
    later_ns = max(LEAST_TIMER_NS, 2 * rtt_ns)
    first, later = min(flow.opening, 1), flow.opening + flow.asking - min(flow.opening, 1)
    timers = [(flow.timer_ns or FIRST_TIMER_NS, first), (flow.timer_ns or later_ns, later)]
    total = 0.0
    for way, body in zip(met.ways, flow.bodies, strict=True):
        total += sum(times * timer_ns * waits(way, timeout_ns / timer_ns) for timer_ns, times in timers)
        segments = body // (flow.control.packet_bytes * flow.connections) if flow.slow_start_bytes else 0
        total += segments * way.loss_again * later_ns * waits(way, timeout_ns / later_ns)
    return total


def waits(way: Way, most: float) -> float:
    """How many times its first timer a packet waits on average: repetition n waits 2^n timers, none beyond `most`."""
    return sum(way.loss * (2 * way.loss_again) ** repetition for repetition in range(int(log2(max(most, 1))) + 1))
