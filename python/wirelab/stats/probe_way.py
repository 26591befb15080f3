"""One direction of a link that was probed: what it was told to do, and its packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirelab.schema import is_netem
from wirelab.stats.delay_model import mean_delay_ns
from wirelab.stats.link import LATENESS_FLOOR_S, TEACHING_SHARE
from wirelab.stats.medium_model import service
from wirelab.stats.probe_packets import Packets

if TYPE_CHECKING:
    import polars as pl

Json = Mapping[str, Any]

NO_LOG = "netem keeps no log"


@dataclass(frozen=True)
class Way:
    """`round_trip_s` is the mean of both directions, without queues."""

    name: str
    uplink: bool
    chain: Sequence[Json]
    link: Json
    packets: Packets
    entered: Packets
    """By the log of the link process."""
    received: pl.DataFrame
    round_trip_s: float

    @property
    def netem(self) -> bool:
        """Whether `packets` are what the ends saw, for netem keeps no log."""
        return is_netem(self.link)

    @property
    def otherwise(self) -> str:
        """What answers for each packet, where probes cannot tell."""
        return NO_LOG if self.netem else "the replay reproduces each packet's"

    @property
    def tolerance_s(self) -> float:
        """Of a delay."""
        return max(LATENESS_FLOOR_S, TEACHING_SHARE * self.round_trip_s)


def lone_delay_s(chain: Sequence[Json], medium: Json | None, size: int) -> float | None:
    """Mean delay of a packet that meets no other; None where it is not known."""
    total = sum(map(mean_delay_ns, chain)) / 1e9
    for stage in chain:
        match stage["kind"]:
            case "rate" | "duty-cycle":
                total += (size + stage.get("overhead_bytes", 0)) * 8 / stage["rate_bps"]
            case "schedule" | "delivery-trace":
                return None
    if medium is not None:
        shared = service(medium, size)
        if shared is None:
            return None
        total += shared.idle
    return total


def is_random(way: Way) -> bool:
    """Whether the delay of lone packets differs by chance."""
    chancy = any(stage.get("jitter") is not None or stage["kind"] == "reorder" for stage in way.chain)
    medium = way.link.get("medium") or {"kind": "none"}
    # Frames of 802.11 on idle air are sent at once: only one that is sent again draws a back-off.
    return chancy or medium["kind"] == "ieee802154" or medium.get("frame_error", 0) > 0
