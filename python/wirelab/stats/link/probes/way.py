"""One direction of a link that was probed: what it was configured to do, and its packets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from wirelab.schema import DirectionFacts
from wirelab.schema.estimates import Way as Direction
from wirelab.schema.link_facts import Facts, SharedFacts
from wirelab.stats.link.grade import LATENESS_FLOOR_S, LIMITED_SHARE
from wirelab.stats.link.over_time import mean_delay_ns
from wirelab.stats.link.probes.packets import Packets

if TYPE_CHECKING:
    import polars as pl

NO_LOG = "netem keeps no log"


@dataclass(frozen=True)
class Way:
    """`round_trip_s` is the mean of both directions, without queues."""

    name: Direction
    uplink: bool
    direction: DirectionFacts
    shared: tuple[SharedFacts, ...]
    netem: bool
    """Whether `packets` are what the ends saw, for netem keeps no log."""
    packets: Packets
    entered: Packets
    """By the log of the link process."""
    received: pl.DataFrame
    round_trip_s: float

    @property
    def otherwise(self) -> str:
        """The check of each packet, if probes cannot decide."""
        return NO_LOG if self.netem else "the replay reproduces each packet's"

    @property
    def tolerance_s(self) -> float:
        """Of a delay."""
        return max(LATENESS_FLOOR_S, LIMITED_SHARE * self.round_trip_s)


class Service(NamedTuple):
    """Mean seconds. `idle`: from arrival to the last bit where nobody else sends; `busy`: from one packet's to the
    next one's.
    """

    idle: float
    busy: float


def shared_service(shared: Iterable[SharedFacts], size: int) -> Service | None:
    """How long what is shared takes for packets of so many IP bytes of one lone sender; None where it is not known."""
    idle = busy = 0.0
    for stage in shared:
        if not stage.service:
            continue
        piece = next((each for each in stage.service if each.from_bytes <= size <= each.to_bytes), None)
        if piece is None:
            return None
        idle += (piece.idle_ns + size * piece.idle_ns_per_byte) / 1e9
        busy += (piece.busy_ns + size * piece.busy_ns_per_byte) / 1e9
    return Service(idle, busy)


def lone_delay_s(stages: Iterable[Facts], shared: Iterable[SharedFacts], size: int) -> float | None:
    """Mean delay of a packet that meets no other; None where it is not known."""
    stages = list(stages)
    if any(changes_all_along(stage) for stage in stages):
        return None
    total = sum(map(mean_delay_ns, stages)) / 1e9
    for rate in (stage.rate for stage in stages):
        if rate is not None and rate.lone_bps is not None:
            total += (size + rate.overhead_bytes) * 8 / rate.lone_bps
    service = shared_service(shared, size)
    return None if service is None else total + service.idle


def changes_all_along(stage: Facts) -> bool:
    """Whether the delay of a lone packet has no one figure at any time; it has one between times without a link."""
    return stage.varies is not None and stage.away is None


def is_random(stages: Iterable[Facts], shared: Iterable[SharedFacts]) -> bool:
    """Whether the delay of lone packets differs by chance."""
    return any(each.delay is not None and each.delay.random for each in stages) or any(each.random for each in shared)
