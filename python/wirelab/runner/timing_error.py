"""How large the link's timing error may be before a block is repeated.

A packet is late if its timing error exceeds the tolerance of its scenario's link. A block is late if more than 1 % of
its packets are, that is if the 99th percentile of timing error over tolerance exceeds 1.
"""

from __future__ import annotations

from typing import NamedTuple

from wirelab.schema import Delay, LinkReport, LinkSpec

LEAST_TOLERANCE_NS = 200_000
SHARE_OF_RTT = 0.01
LATE_SHARE = 0.01


class LatePackets(NamedTuple):
    """Packets delivered, and those among them that were late."""

    packets: int
    late: int

    def __add__(self, other: object) -> LatePackets:
        if not isinstance(other, LatePackets):
            return NotImplemented
        return LatePackets(self.packets + other.packets, self.late + other.late)

    @property
    def share(self) -> float:
        """Share of packets that were late; 0 without packets."""
        return self.late / self.packets if self.packets else 0.0

    @property
    def tolerable(self) -> bool:
        """No more than one packet in a hundred was late."""
        return self.share <= LATE_SHARE


def tolerance_ns(link: LinkSpec) -> int:
    """200 us, or 1 % of the link's mean round trip if that is more."""
    delays = [stage.delay_ns for stage in (*link.uplink, *link.downlink) if isinstance(stage, Delay)]
    return max(LEAST_TOLERANCE_NS, round(SHARE_OF_RTT * sum(delays)))


def late_packets(report: LinkReport, link: LinkSpec) -> LatePackets:
    """Count a trial's late packets: those in buckets that lie wholly above the tolerance."""
    tolerance = tolerance_ns(link)
    packets = late = 0
    for direction in report.directions:
        lower = 0
        for upper, count in zip(direction.lateness.upper_ns, direction.lateness.packets, strict=True):
            packets += count
            late += count if lower >= tolerance else 0
            lower = upper
    return LatePackets(packets, late)
