"""How large the link's timing error may be before a block is repeated.

A packet is late if its timing error exceeds the tolerance of its scenario's link. A block is late if more than 1 % of
its packets are, that is if the 99th percentile of timing error over tolerance exceeds 1. A block is stalled if one
packet of it was later than the plan's `stall_ns`, for a timer of an endpoint may have fired.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from wirelab.schema import Delay, LinkReport, LinkSpec
from wirelab.units import format_duration

LEAST_TOLERANCE_NS = 200_000
SHARE_OF_RTT = 0.01
LATE_SHARE = 0.01


class LatePackets(NamedTuple):
    """Packets delivered, and those among them that were late."""

    packets: int
    late: int
    stall_ns: int = 0
    """The largest timing error, if a timer may have fired meanwhile; 0 if not."""

    def __add__(self, other: object) -> LatePackets:
        if not isinstance(other, LatePackets):
            return NotImplemented
        stall_ns = max(self.stall_ns, other.stall_ns)
        return LatePackets(self.packets + other.packets, self.late + other.late, stall_ns)

    @property
    def share(self) -> float:
        """Share of packets that were late; 0 without packets."""
        return self.late / self.packets if self.packets else 0.0

    @property
    def tolerable(self) -> bool:
        """No more than one packet in a hundred was late, and no timer can have fired for it."""
        return self.share <= LATE_SHARE and not self.stall_ns


def tolerance_ns(link: LinkSpec) -> int:
    """200 us, or 1 % of the link's mean round trip if that is more."""
    delays = [stage.delay_ns for stage in (*link.uplink, *link.downlink) if isinstance(stage, Delay)]
    return max(LEAST_TOLERANCE_NS, round(SHARE_OF_RTT * sum(delays)))


def late_packets(
    report: LinkReport, link: LinkSpec, stall_ns: int = 0, others: Iterable[LinkReport] = ()
) -> LatePackets:
    """Count a trial's late packets on the client's link: those in buckets that lie wholly above the tolerance.

    A stall of any link counts if it lasted longer than `stall_ns`; with 0 none does.
    """
    tolerance = tolerance_ns(link)
    worst = max((each.lateness.max_ns for one in (report, *others) for each in one.directions), default=0)
    packets = late = 0
    for direction in report.directions:
        lower = 0
        for upper, count in zip(direction.lateness.upper_ns, direction.lateness.packets, strict=True):
            packets += count
            late += count if lower >= tolerance else 0
            lower = upper
    return LatePackets(packets, late, worst if 0 < stall_ns < worst else 0)


def stall_words(stall_ns: int) -> str:
    """What a stall means for a trial."""
    return f"the link delivered a packet {format_duration(stall_ns)} late, so a timer may have fired"
