"""Which probes tell what a link does within a given time. Pure.

Sparse ones, both ways, for the delay; steady ones for loss and what else befalls packets one by one; bursts above the
rate, one direction after the other, for the rate. Whoever sleeps is woken before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from wirelab.experiment.expected_link import delay_ns, medium_ns, sending_ns
from wirelab.schema import (
    AddressFamily,
    Delay,
    DutyCycle,
    Ieee802154,
    ImpairmentSpec,
    LinkSpec,
    NormalJitter,
    TableJitter,
    UniformJitter,
)
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
"""At a high rate a train is longer, if it can: the emulator's lateness is a smaller part of it then."""
PAUSE_NS = 3 * MS
LEAST_QUEUE_BYTES = 2000
PER_PACKET = {
    "loss", "gilbert-elliott", "gilbert-elliott-time", "four-state", "markov", "loss-pattern", "reorder", "duplicate",
    "corrupt", "schedule",
}  # fmt: skip


@dataclass(frozen=True)
class _Way:
    uplink: bool
    chain: Sequence[ImpairmentSpec]
    link: LinkSpec

    @property
    def header_bytes(self) -> int:
        """IP and UDP."""
        return (40 if self.link.family is AddressFamily.IPV6 else 20) + UDP_BYTES

    def packet_ns(self, payload: int) -> int:
        """How long one probe keeps the next one waiting."""
        size = payload + self.header_bytes
        return sending_ns(self.chain, size, 1) + medium_ns(self.link.medium, size, 1)

    def flow(self, kind: ProbeKind, begin: int, every: int, bursts: int, spread: int, **more: int) -> ProbeFlow:
        shape = {"packets": 1, "payload_bytes": SMALL_BYTES, **more}
        return ProbeFlow(
            uplink=self.uplink, client_port=kind.port(uplink=self.uplink), begin_ns=begin, every_ns=every,
            bursts=bursts, spread_ns=spread, **shape,
        )  # fmt: skip


def plan_probes(link: LinkSpec, time_ns: int) -> ProbePlan:
    """Probes for so long, and for as long as waking the radio takes. It begins at 0: whoever runs it sets the start."""
    ways = (_Way(True, link.uplink, link), _Way(False, link.downlink, link))
    opening = list(_opening(link))
    at = _awake_ns(link)
    lossy = any(stage.kind in PER_PACKET for stage in chain(link.uplink, link.downlink))
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
    round_trip = delay_ns(link.uplink) + delay_ns(link.downlink)
    flows.sort(key=lambda flow: flow.begin_ns)
    duration = at + 2 * round_trip + max(map(_airtime_ns, ways)) + 300 * MS
    family = link.family or AddressFamily.IPV4
    return ProbePlan(
        start_ns=0, duration_ns=duration, family=family, server_port=SERVER_PORT, flows=tuple(flows)
    )  # fmt: skip


def probes_ns(link: LinkSpec, time_ns: int) -> int:
    """How long probing takes, processes included."""
    return plan_probes(link, time_ns).duration_ns + SECOND


def doing(plan: ProbePlan, at_ns: int) -> str:
    """What is sent at that time since the plan's beginning."""
    for kind in (ProbeKind.RATE, ProbeKind.LOSS, ProbeKind.DELAY):
        for flow in plan.flows:
            begun = flow.begin_ns <= at_ns < flow.begin_ns + flow.bursts * flow.every_ns
            if begun and flow.client_port == kind.port(uplink=flow.uplink):
                way = "uplink" if flow.uplink else "downlink"
                return f"rate, {way}" if kind is ProbeKind.RATE else f"{kind.name.lower()}, both ways"
    if at_ns < max((flow.begin_ns for flow in plan.flows), default=0):
        return "waking the link"
    return "waiting for the last probes"


def _opening(link: LinkSpec) -> Iterator[ProbeFlow]:
    """Packets from the client that wake its radio, and open the address translation for each flow towards it."""
    if link.radio is None and link.nat is None:
        return
    first = _Way(True, link.uplink, link).flow(ProbeKind.OPEN, 0, 10 * MS, 1, 0)
    yield first
    if link.nat is not None:
        for number, kind in enumerate((ProbeKind.DELAY, ProbeKind.LOSS, ProbeKind.RATE), 1):
            port = kind.port(uplink=False)
            yield first.model_copy(update={"client_port": port, "begin_ns": number * MS, "bursts": 2})


def _awake_ns(link: LinkSpec) -> int:
    """When the client's radio is awake, and what it waited with has passed."""
    if link.radio is None and link.nat is None:
        return 0
    waking = max((sleep.wake_ns for sleep in link.radio.sleeps), default=0) if link.radio is not None else 0
    way = _Way(True, link.uplink, link)
    return waking + delay_ns(link.uplink) + delay_ns(link.downlink) + 10 * way.packet_ns(SMALL_BYTES) + 100 * MS


def _delay_flow(way: _Way, at: int, time: int) -> ProbeFlow:
    """So far apart that no probe waits for another."""
    waiting = 4 * (way.packet_ns(SMALL_BYTES) + _other(way).packet_ns(SMALL_BYTES))
    every = max(10 * MS, waiting, 4 * _jitter_ns(way.chain), time // MOST_DELAY_PROBES)
    lightest = _lightest_sleep_ns(way.link)
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
    every = max(MS, 2 * (way.packet_ns(SMALL_BYTES) + _other(way).packet_ns(SMALL_BYTES)))
    return way.flow(ProbeKind.LOSS, at, every, max(1, time // every), every // 2)


def _train_flow(way: _Way, at: int, time: int) -> ProbeFlow | None:
    """Bursts that keep the rate busy, with pauses in which the queue empties; none where too few probes would pass."""
    # Larger ones would be several frames of 802.15.4.
    one_frame = isinstance(way.link.medium, Ieee802154)
    largest = TRAIN_BYTES[-1] if one_frame else (way.link.mtu or 1500) - way.header_bytes
    for payload in (size for size in TRAIN_BYTES if size <= largest):
        each = way.packet_ns(payload)
        longest = min(max(LONG_TRAIN, TRAIN_NS // each), LONGEST_TRAIN)
        packets = min(longest, time // (4 * each), _queue_room(way, payload + way.header_bytes))
        if packets >= LEAST_TRAIN:
            every = int(packets * each * 1.25) + PAUSE_NS
            bursts = min(MOST_TRAINS, time // every)
            return way.flow(ProbeKind.RATE, at, every, max(1, bursts), 0, packets=packets, payload_bytes=payload)
    return None


def _airtime_ns(way: _Way) -> int:
    """Of a lone probe where a duty cycle lets it be sent: what comes after it is silence."""
    bits = (SMALL_BYTES + way.header_bytes) * 8 * SECOND
    return sum(bits // stage.rate_bps for stage in way.chain if isinstance(stage, DutyCycle))


def _keep_awake(way: _Way, at: int, time: int) -> list[ProbeFlow]:
    lightest = _lightest_sleep_ns(way.link)
    if lightest is None or lightest > time:
        return []
    every = max(int(lightest * 0.4), MS)
    return [way.flow(ProbeKind.OPEN, at, every, max(1, time // every), 0)]


def _lightest_sleep_ns(link: LinkSpec) -> int | None:
    return link.radio.sleeps[0].after_ns if link.radio is not None and link.radio.sleeps else None


def _other(way: _Way) -> _Way:
    """Whose probes may be in the way: the other direction's, on a shared medium."""
    if way.link.medium is None:
        return _Way(way.uplink, (), LinkSpec(uplink=(), downlink=()))
    return way


def _queue_room(way: _Way, size: int) -> int:
    """How many packets of that size the smallest queue on the way holds."""
    queues = [_holds(stage.queue, size) for stage in way.chain if hasattr(stage, "queue")]
    if way.link.medium is not None:
        queues.append(_holds(way.link.medium.queue, size))
    if way.link.radio is not None and not way.uplink:
        queues.append(max(way.link.radio.buffer_bytes, LEAST_QUEUE_BYTES) // size)
    return min(queues, default=LONGEST_TRAIN)


def _holds(queue: object, size: int) -> int:
    held, packets = getattr(queue, "bytes", None), getattr(queue, "packets", None)
    room = max(held, LEAST_QUEUE_BYTES) // size if held is not None else LONGEST_TRAIN
    return min(room, packets if packets is not None else LONGEST_TRAIN)


def _jitter_ns(way: Sequence[ImpairmentSpec]) -> int:
    """About how far jitter may move a packet."""
    total = 0
    for stage in way:
        if isinstance(stage, Delay) and stage.jitter is not None:
            match stage.jitter:
                case UniformJitter(half_width_ns=width):
                    total += width
                case NormalJitter(sigma_ns=sigma):
                    total += 3 * sigma
                case TableJitter(offsets_ns=offsets):
                    total += offsets[-1] - offsets[0]
                case other:
                    total += 4 * other.sigma_ns
        elif stage.kind == "reorder":
            total += stage.by_ns
    return total
