"""The probes that measure a link within a given time. Pure.

Sparse ones, both ways, for the delay; steady ones for loss and what else befalls packets one by one; bursts above the
rate, one direction after the other, for the rate. A sleeping radio is woken first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from wirelab.schema import AddressFamily, DirectionFacts, LinkFacts, LinkSpec, round_trip_ns
from wirelab.schema.link_facts import QueueFacts, SharedFacts, SleepSpec
from wirelab.schema.probe import ProbeFlow, ProbeKind, ProbePlan

SERVER_PORT = 9000
UDP_BYTES = 8
SMALL_BYTES = 16
TRAIN_BYTES = (1372, 672, 372, 172, 72)
"""Payloads of a train's probes: the largest of which enough pass."""
MS, SECOND = 10**6, 10**9
MOST_DELAY_PROBES = 3000
LEAST_TRAIN, LONG_TRAIN, LONGEST_TRAIN, MOST_TRAINS = 4, 64, 128, 60
"""The longest fits a socket's receive buffer of 208 KiB, Linux's default, which the kernel doubles: who receives may
not run until the train is over.
"""
TRAIN_NS = 5 * MS
"""At a high rate a train is longer, if it can: the emulator's timing error is a smaller part of it then."""
PAUSE_NS = 3 * MS
LEAST_QUEUE_BYTES = 2000
LANE_MTU = 1500


@dataclass(frozen=True)
class _Way:
    uplink: bool
    link: LinkSpec
    known: LinkFacts

    @property
    def own(self) -> DirectionFacts:
        return self.known.uplink if self.uplink else self.known.downlink

    @property
    def header_bytes(self) -> int:
        """IP and UDP."""
        return (40 if self.link.family is AddressFamily.IPV6 else 20) + UDP_BYTES

    @cached_property
    def largest(self) -> int:
        """Payload of the largest probe that is one packet, and one frame of what is shared."""
        frames = [max(piece.to_bytes for piece in stage.service) for stage in self.known.shared if stage.service]
        return min([self.link.mtu or LANE_MTU, *frames]) - self.header_bytes

    def packet_ns(self, payload: int) -> int:
        """The time for which one probe delays the next."""
        size = payload + self.header_bytes
        return round(sending_ns(self.own, size) + sum(shared_ns(stage, size) for stage in self.known.shared))

    def flow(self, kind: ProbeKind, begin: int, every: int, bursts: int, spread: int, **more: int) -> ProbeFlow:
        shape = {"packets": 1, "payload_bytes": SMALL_BYTES, **more}
        return ProbeFlow(
            uplink=self.uplink, client_port=kind.port(uplink=self.uplink), begin_ns=begin, every_ns=every,
            bursts=bursts, spread_ns=spread, **shape,
        )  # fmt: skip


def sending_ns(way: DirectionFacts, size: int) -> float:
    """How long a packet of so many IP bytes takes at the direction's rates."""
    total = 0.0
    for rate in (stage.rate for stage in way.stages if stage.rate is not None):
        quantum = rate.quantum_bytes or 1
        total += -(-size // quantum) * quantum * 8e9 / rate.busy_bps if rate.busy_bps else 0.0
    return total


def shared_ns(stage: SharedFacts, size: int) -> float:
    """How long such a packet holds what is shared."""
    air = stage.airtime
    if air is None:
        return 0.0
    sent = max(size - air.compressed_bytes, 0)
    frames = 1 if air.frame_bytes is None else max(1, -(-sent // air.frame_bytes))
    return frames * air.per_frame_ns + sent * air.per_byte_ns


def plan_probes(link: LinkSpec, known: LinkFacts, time_ns: int) -> ProbePlan:
    """Probes for so long, and for as long as waking the radio takes. It begins at 0: the runner sets the start."""
    ways = (_Way(True, link, known), _Way(False, link, known))
    opening = list(_opening(ways[0]))
    at = _awake_ns(ways[0])
    lossy = any(stage.per_packet for way in ways for stage in way.own.stages)
    limited = [way for way in ways if way.packet_ns(TRAIN_BYTES[0]) > 0]
    shares = {"delay": 4, "loss": 4 if lossy else 0, "rate": 2 * len(limited)}
    unit = time_ns // sum(shares.values())
    flows = list(opening)
    flows += [_delay_flow(way, at, shares["delay"] * unit) for way in ways]
    at += shares["delay"] * unit
    if lossy:
        flows += [_loss_flow(way, at, shares["loss"] * unit) for way in ways]
        at += shares["loss"] * unit
    for way in limited:
        train = _train_flow(way, at, 2 * unit)
        if train is not None:
            flows.append(train)
            if not way.uplink:
                flows += _keep_awake(ways[0], at, 2 * unit)
        at += 2 * unit
    flows.sort(key=lambda flow: flow.begin_ns)
    duration = at + 2 * round_trip_ns(known) + max(map(_airtime_ns, ways)) + 300 * MS
    family = link.family or AddressFamily.IPV4
    return ProbePlan(
        start_ns=0, duration_ns=duration, family=family, server_port=SERVER_PORT, flows=tuple(flows)
    )  # fmt: skip


def probes_ns(link: LinkSpec, known: LinkFacts, time_ns: int) -> int:
    """The duration of a calibration, processes included."""
    return plan_probes(link, known, time_ns).duration_ns + SECOND


def doing(plan: ProbePlan, at_ns: int) -> str:
    """The probes that are sent at that time since the plan's start."""
    for kind in (ProbeKind.RATE, ProbeKind.LOSS, ProbeKind.DELAY):
        for flow in plan.flows:
            begun = flow.begin_ns <= at_ns < flow.begin_ns + flow.bursts * flow.every_ns
            if begun and flow.client_port == kind.port(uplink=flow.uplink):
                way = "uplink" if flow.uplink else "downlink"
                return f"rate, {way}" if kind is ProbeKind.RATE else f"{kind.name.lower()}, both ways"
    if at_ns < max((flow.begin_ns for flow in plan.flows), default=0):
        return "waking the link"
    return "waiting for the last probes"


def _opening(uplink: _Way) -> Iterator[ProbeFlow]:
    """Packets from the client that wake its radio, and open the way back for each flow towards it."""
    opens = any(stage.opened_by_uplink for stage in uplink.known.shared)
    if not opens and not _sleeps(uplink.known):
        return
    first = uplink.flow(ProbeKind.OPEN, 0, 10 * MS, 1, 0)
    yield first
    if opens:
        for number, kind in enumerate((ProbeKind.DELAY, ProbeKind.LOSS, ProbeKind.RATE), 1):
            port = kind.port(uplink=False)
            yield first.model_copy(update={"client_port": port, "begin_ns": number * MS, "bursts": 2})


def _awake_ns(uplink: _Way) -> int:
    """When the client's radio is awake, and what it waited with has passed."""
    known = uplink.known
    if not any(stage.opened_by_uplink for stage in known.shared) and not _sleeps(known):
        return 0
    waking = max((sleep.wake_ns for sleep in _sleeps(known)), default=0)
    return waking + round_trip_ns(known) + 10 * uplink.packet_ns(SMALL_BYTES) + 100 * MS


def _delay_flow(way: _Way, at: int, time: int) -> ProbeFlow:
    """So far apart that no probe waits for another."""
    waiting = 4 * (way.packet_ns(SMALL_BYTES) + _other_ns(way, SMALL_BYTES))
    every = max(10 * MS, waiting, 4 * _spread_ns(way.own), time // MOST_DELAY_PROBES)
    lightest = _lightest_sleep_ns(way.known)
    if lightest is not None:
        # A radio that fell asleep between two probes would be measured instead of the delay.
        every = max(min(every, int(lightest * 0.5)), 1)
    bursts = time // every
    if bursts < 2:
        return way.flow(ProbeKind.DELAY, at, every, 1, 0)
    # Both directions share a medium: half a step apart they do not meet.
    begin = at if way.uplink else at + every // 2
    return way.flow(ProbeKind.DELAY, begin, every, bursts, every // 4)


def _loss_flow(way: _Way, at: int, time: int) -> ProbeFlow:
    every = max(MS, 2 * (way.packet_ns(SMALL_BYTES) + _other_ns(way, SMALL_BYTES)))
    return way.flow(ProbeKind.LOSS, at, every, max(1, time // every), every // 2)


def _train_flow(way: _Way, at: int, time: int) -> ProbeFlow | None:
    """Bursts that keep the rate busy, with pauses in which the queue empties; none where too few probes would pass."""
    for payload in (size for size in TRAIN_BYTES if size <= way.largest):
        each = way.packet_ns(payload)
        longest = min(max(LONG_TRAIN, TRAIN_NS // each), LONGEST_TRAIN)
        packets = min(longest, time // (4 * each), _queue_room(way, payload + way.header_bytes))
        if packets >= LEAST_TRAIN:
            every = int(packets * each * 1.25) + PAUSE_NS
            bursts = min(MOST_TRAINS, time // every)
            return way.flow(ProbeKind.RATE, at, every, max(1, bursts), 0, packets=packets, payload_bytes=payload)
    return None


def _airtime_ns(way: _Way) -> int:
    """Of a lone probe where the rate of a lone packet is not what is left of it in the long run: silence follows."""
    bits = (SMALL_BYTES + way.header_bytes) * 8 * SECOND
    rates = (stage.rate for stage in way.own.stages if stage.rate is not None)
    return sum(bits // rate.lone_bps for rate in rates if rate.lone_bps is not None and rate.steady_bps is None)


def _keep_awake(way: _Way, at: int, time: int) -> list[ProbeFlow]:
    lightest = _lightest_sleep_ns(way.known)
    if lightest is None or lightest > time:
        return []
    every = max(int(lightest * 0.4), MS)
    return [way.flow(ProbeKind.OPEN, at, every, max(1, time // every), 0)]


def _sleeps(known: LinkFacts) -> Sequence[SleepSpec]:
    return next((stage.sleeps for stage in known.shared if stage.sleeps), ())


def _lightest_sleep_ns(known: LinkFacts) -> int | None:
    return next((sleep.after_ns for sleep in _sleeps(known)), None)


def _other_ns(way: _Way, payload: int) -> int:
    """For how long the other direction's probe may be in the way: on a medium that both use."""
    return way.packet_ns(payload) if any(stage.airtime is not None for stage in way.known.shared) else 0


def _queue_room(way: _Way, size: int) -> int:
    """How many packets of that size the smallest queue on the way holds."""
    queues = [stage.queue for stage in way.own.stages]
    both = [stage.queue for stage in way.known.shared if stage.queue is not None]
    queues += [queue.uplink if way.uplink else queue.downlink for queue in both]
    return min((_holds(queue, size) for queue in queues if queue is not None), default=LONGEST_TRAIN)


def _holds(queue: QueueFacts, size: int) -> int:
    room = max(queue.bytes, LEAST_QUEUE_BYTES) // size if queue.bytes is not None else LONGEST_TRAIN
    return min(room, queue.packets if queue.packets is not None else LONGEST_TRAIN)


def _spread_ns(way: DirectionFacts) -> int:
    """About how far jitter may move a packet."""
    return sum(stage.delay.spread_ns for stage in way.stages if stage.delay is not None)
