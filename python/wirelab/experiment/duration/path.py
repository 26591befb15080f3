"""A link as a flow meets it, in numbers from its facts: the only place in which durations look at a link. Knows no
protocol and no kind of stage.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from wirelab.schema.link_facts import DirectionFacts, Facts, LinkFacts, QueueFacts, SharedFacts, SleepSpec

PACKET_BYTES = 1500
AFTER_AWAY_NS = 10**9
"""What is lost while the link is away is repeated about so long after it."""


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
    sleeps: tuple[SleepSpec, ...]
    """The radio's depths of sleep, from light to deep."""

    @property
    def ways(self) -> tuple[Way, Way]:
        return self.uplink, self.downlink

    @property
    def rtt_ns(self) -> int:
        """Without queues, and for packets without bytes."""
        return sum(way.delay_ns + way.packet_ns for way in self.ways)

    def waking_ns(self, gap_ns: int, answer_ns: int, trips: int, first: float) -> int:
        """Waking the radio for an exchange so long after the one before, and for answers that come after `answer_ns`.

        `first` is the share of exchanges that begin with the trial, in the deepest sleep. A sleeping radio listens each
        cycle after it fell asleep; without a cycle what waits comes with the next uplink packet.
        """
        if not self.sleeps:
            return 0
        asleep = [sleep for sleep in self.sleeps if sleep.after_ns < gap_ns]
        later = asleep[-1].wake_ns if asleep else 0
        total = round(first * self.sleeps[-1].wake_ns + (1 - first) * later)
        waiting = [sleep for sleep in self.sleeps if sleep.after_ns < answer_ns]
        if waiting:
            slept = answer_ns - waiting[-1].after_ns
            total += trips * (-slept % (waiting[-1].cycle_ns or slept) + waiting[-1].wake_ns)
        return total


def path(link: LinkFacts, packets: int | None = None) -> Path:
    """A link's path; of a loss pattern that does not repeat, for so many packets of a trial."""
    queues = [each.queue for each in link.shared if each.queue is not None]
    return Path(
        uplink=_way(link.uplink, [queue.uplink for queue in queues], link.shared, packets),
        downlink=_way(link.downlink, [queue.downlink for queue in queues], link.shared, packets),
        shared=any(each.airtime is not None for each in link.shared),
        sleeps=tuple(sleep for each in link.shared for sleep in each.sleeps),
    )


def _way(
    own: DirectionFacts, waiting: Iterable[QueueFacts | None], shared: Iterable[SharedFacts], packets: int | None
) -> Way:
    stages, media = own.stages, [each.airtime for each in shared if each.airtime is not None]
    losses = [(each.frame_loss, each.frame_loss) for each in shared] + [_loss(stage, packets) for stage in stages]
    rates = [stage.rate.busy_bps for stage in stages if stage.rate is not None]
    rates += [8e9 / (air.per_byte_ns + (air.per_frame_ns / air.frame_bytes if air.frame_bytes else 0)) for air in media]
    queues = [stage.queue for stage in stages] + list(waiting)
    return Way(
        delay_ns=round(sum(stage.delay.mean_ns for stage in stages if stage.delay is not None)),
        rate_bps=min((rate for rate in rates if rate), default=None),
        packet_ns=round(sum(air.per_frame_ns for air in media)),
        loss=1 - prod(1 - first for first, _ in losses),
        loss_again=1 - prod(1 - (again if first else 0.0) for first, again in losses),
        pause_ns=round(sum(map(_pause_ns, stages))),
        queue_bytes=max((_bytes(queue) for queue in queues if queue is not None), default=0.0),
    )


def _loss(stage: Facts, packets: int | None) -> tuple[float, float]:
    """Probability that a packet is lost, and that its repetition is lost too. A corrupt packet is a lost one: its
    receiver's checksum tells.
    """
    corrupt = 0.0 if stage.corrupted is None else stage.corrupted.share
    if (loss := stage.loss) is None:
        return corrupt, corrupt
    first, again = loss.first, loss.again
    if (pattern := loss.pattern) is not None and not pattern.repeat and packets is not None:
        first = again = sum(at < packets for at in pattern.lost) / packets
    return 1 - (1 - first) * (1 - corrupt), 1 - (1 - again) * (1 - corrupt)


def _pause_ns(stage: Facts) -> float:
    """Waiting for the end of times without a link that come again and again; one alone is rare."""
    away = stage.away
    if away is None or not away.every_ns:
        return 0.0
    wait_ns = away.duration_ns / 2 + (0 if away.holds else AFTER_AWAY_NS)
    return wait_ns * away.duration_ns / away.every_ns


def _bytes(queue: QueueFacts) -> float:
    """That wait in a full one; 0 in a queue that is kept short."""
    if queue.aqm is not None or queue.fair:
        return 0.0
    limits = [None if queue.packets is None else queue.packets * PACKET_BYTES, queue.bytes]
    return min((float(limit) for limit in limits if limit is not None), default=0.0)
