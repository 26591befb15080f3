"""Which link is which, and what the data plane counted on one (`link_report.rs` of `wirelab-schema`)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

from pydantic import model_validator

from wirelab.schema.base import Received, Unsigned, canonical_json
from wirelab.schema.link_facts import LinkFacts
from wirelab.schema.link_spec import LinkBackend, LinkSpec

KEY_DIGITS = 16


def is_netem(link: LinkSpec | Mapping[str, Any]) -> bool:
    """Whether the kernel's netem runs a link; a link may also be the JSON of one, or a row that has its `backend`."""
    backend = link.backend if isinstance(link, LinkSpec) else link.get("backend")
    return backend == LinkBackend.NETEM


def backend_of(link: LinkSpec) -> str:
    """What emulates a link: `wirelab` or `netem`."""
    return (link.backend or LinkBackend.WIRELAB).value


def link_key(link: LinkSpec | Mapping[str, Any]) -> str:
    """What a plan knows a link's facts by, and its probes' folder: the beginning of the SHA-256 of its JSON."""
    document = link.to_json() if isinstance(link, LinkSpec) else link
    return hashlib.sha256(canonical_json(document).encode()).hexdigest()[:KEY_DIGITS]


def round_trip_ns(known: LinkFacts) -> int:
    """A link's mean round trip without queues."""
    stages = (*known.uplink.stages, *known.downlink.stages)
    return round(sum(stage.delay.mean_ns for stage in stages if stage.delay is not None))


class DropCause(StrEnum):
    """Why the link dropped a packet."""

    LOSS = "loss"
    QUEUE_FULL = "queue-full"
    AQM = "aqm"
    OUTAGE = "outage"
    RETRIES = "retries"
    NAT = "nat"


class DropCount(Received):
    """How many packets one cause dropped."""

    cause: DropCause
    packets: Unsigned


class LatenessHistogram(Received):
    """Timing error of delivered packets in buckets; the last holds everything above the edge before it."""

    upper_ns: tuple[Unsigned, ...]
    packets: tuple[Unsigned, ...]
    max_ns: Unsigned

    @model_validator(mode="after")
    def _has_an_edge_for_each_bucket(self) -> Self:
        if len(self.upper_ns) != len(self.packets):
            raise ValueError(f"{len(self.packets)} buckets have {len(self.upper_ns)} upper edges")
        return self


class DirectionReport(Received):
    """One direction of a trial's link: received + originated + duplicated = delivered + dropped + held."""

    received: Unsigned
    originated: Unsigned = 0
    duplicated: Unsigned = 0
    delivered: Unsigned
    dropped: tuple[DropCount, ...]
    held: Unsigned
    received_bytes: Unsigned
    delivered_bytes: Unsigned
    lateness: LatenessHistogram


class ReplayReport(Received):
    """What `wirelab-agent replay` says of a packet log as a whole (`schema/replay-report.json`)."""

    packets: Unsigned
    mismatches: Unsigned


class LinkReport(Received):
    """What the link process counted while one trial ran: uplink, then downlink."""

    directions: tuple[DirectionReport, ...]
    kernel_drops: Unsigned
    oversized: Unsigned
    clock_step: bool
    left_out_of_captures: Unsigned = 0
    rests: Unsigned = 0
    """How often its clock was put forward."""
    rested_ns: Unsigned = 0
    """By how much in all."""
