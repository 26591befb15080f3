"""A link as a flow meets it, in numbers: the only place in which durations look at a link. Knows no protocol."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wirelab.experiment.expected_link import delay_ns, loss, medium_loss, medium_ns, outage_ns, sending_ns, waking_ns
from wirelab.schema import DropTail, ImpairmentSpec, LinkSpec, MediumSpec, RadioSpec

PACKET_BYTES = 1500
_LONG = 10 * PACKET_BYTES
"""Beyond a first packet: so long that what a frame cannot hold is spread evenly."""


@dataclass(frozen=True)
class Way:
    """One direction of a path."""

    delay_ns: int
    """One way, without queues."""
    rate_bps: float | None
    """Of its slowest stage, a shared medium included; none if nothing limits it."""
    packet_ns: int
    """What each packet takes on the medium besides its bytes."""
    loss: float
    """Share of packets that are lost."""
    loss_again: float
    """Share of repetitions that are lost too: more than `loss` if losses come in bursts."""
    pause_ns: int
    """Mean wait for the end of outages."""
    queue_bytes: float
    """Of the longest queue; 0 if it is kept short, or if there is none."""

    def sending_ns(self, size_bytes: float, packets: int) -> float:
        """Time that so many bytes in so many packets take at its rate."""
        return packets * self.packet_ns + (0.0 if self.rate_bps is None else size_bytes * 8e9 / self.rate_bps)


@dataclass(frozen=True)
class Path:
    """Both directions, and the radio that may sleep before them."""

    uplink: Way
    downlink: Way
    shared: bool
    """Whether both directions and all hosts have one medium."""
    radio: RadioSpec | None

    @property
    def ways(self) -> tuple[Way, Way]:
        return self.uplink, self.downlink

    @property
    def rtt_ns(self) -> int:
        """Without queues, and for packets without bytes."""
        return sum(way.delay_ns + way.packet_ns for way in self.ways)

    def waking_ns(self, gap_ns: int, answer_ns: int, trips: int, first: float) -> int:
        """Waking the radio for an exchange so long after the one before, and for answers that come after `answer_ns`;
        `first` is the share of exchanges that begin in its deepest sleep.
        """
        return waking_ns(self.radio, gap_ns, answer_ns, trips, first)


def path(link: LinkSpec, packets: int | None = None) -> Path:
    """A link's path; of a loss pattern that does not repeat, for so many packets of a trial."""
    up, down = (_way(stages, link.medium, packets) for stages in (link.uplink, link.downlink))
    return Path(up, down, shared=link.medium is not None, radio=link.radio)


def _way(stages: Iterable[ImpairmentSpec], medium: MediumSpec | None, packets: int | None) -> Way:
    stages = tuple(stages)
    on_air = medium_loss(medium)
    losses = [(on_air, on_air), *(loss(stage, packets) for stage in stages)]
    passes = passes_again = 1.0
    for first, again in losses:
        passes *= 1 - first
        passes_again *= 1 - (again if first else 0.0)
    rates = [rate for stage in stages if (rate := _rate_bps(sending_ns((stage,), PACKET_BYTES, 1)))]
    long_ns = medium_ns(medium, PACKET_BYTES + _LONG, 1) - medium_ns(medium, PACKET_BYTES, 1)
    if long_ns:
        rates.append(_LONG * 8e9 / long_ns)
    queues = [queue for stage in stages if isinstance(queue := getattr(stage, "queue", None), DropTail)]
    queues += [] if medium is None else [DropTail(bytes=medium.queue_bytes, packets=medium.queue_packets)]
    return Way(
        delay_ns=delay_ns(stages),
        rate_bps=min(rates, default=None),
        packet_ns=medium_ns(medium, 0, 1),
        loss=1 - passes,
        loss_again=1 - passes_again,
        pause_ns=outage_ns(stages),
        queue_bytes=max(map(_bytes, queues), default=0.0),
    )


def _rate_bps(packet_ns: int) -> float | None:
    return PACKET_BYTES * 8e9 / packet_ns if packet_ns else None


def _bytes(queue: DropTail) -> float:
    limits = [None if queue.packets is None else queue.packets * PACKET_BYTES, queue.bytes]
    return min((float(limit) for limit in limits if limit is not None), default=0.0)
