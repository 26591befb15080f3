"""Links as told to the data plane, and what it counted (`link.rs`, `link_report.rs` of `wirelab-schema`)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from wirelab.schema.base import Border, Probability, Received, Unsigned, Unsigned32
from wirelab.schema.impairment import DropTail, ImpairmentSpec


class _Medium(Border):
    queue_bytes: Unsigned | None = None
    queue_packets: Unsigned32 | None = None

    @property
    def queue(self) -> DropTail:
        """Of each station."""
        return DropTail(bytes=self.queue_bytes, packets=self.queue_packets)


class Serialiser(_Medium):
    """A serialiser that ports use in turn."""

    kind: Literal["serialiser"] = "serialiser"
    rate_bps: Unsigned
    overhead_bytes: Unsigned32 = 0


class Wifi(_Medium):
    """Air shared by CSMA/CA as in IEEE 802.11's distributed coordination function."""

    kind: Literal["wifi"] = "wifi"
    rate_bps: Unsigned
    overhead_bytes: Unsigned32
    preamble_ns: Unsigned
    ack_ns: Unsigned
    slot_ns: Unsigned
    sifs_ns: Unsigned
    difs_ns: Unsigned
    cw_min: Unsigned32
    cw_max: Unsigned32
    retries: Unsigned32
    frame_error: Probability


class Ieee802154(_Medium):
    """IEEE 802.15.4 (2.4 GHz O-QPSK) under 6LoWPAN; a datagram dies with one frame."""

    kind: Literal["ieee802154"] = "ieee802154"
    compressed_bytes: Unsigned32
    mac_bytes: Unsigned32
    frame_error: Probability
    retries: Unsigned32
    max_backoffs: Unsigned32
    min_be: Unsigned32
    max_be: Unsigned32


MediumSpec = Annotated[Serialiser | Wifi | Ieee802154, Field(discriminator="kind")]


class SleepSpec(Border):
    """One depth of a radio's sleep."""

    after_ns: Unsigned
    cycle_ns: Unsigned | None = None
    wake_ns: Unsigned


class RadioSpec(Border):
    """How the client's radio goes to sleep, from light to deep, and what waking takes."""

    sleeps: tuple[SleepSpec, ...]
    buffer_bytes: Unsigned


class NatSpec(Border):
    """Address translation whose mappings end after a time without packets."""

    udp_timeout_ns: Unsigned
    tcp_timeout_ns: Unsigned


class AddressFamily(StrEnum):
    """A version of IP."""

    IPV4 = "ipv4"
    IPV6 = "ipv6"


class LinkBackend(StrEnum):
    """What runs a link: the link process, or the kernel's netem behind it."""

    WIRELAB = "wirelab"
    NETEM = "netem"


class LinkSpec(Border):
    """A chain of impairments per direction, and what both share; uplink is from client to server."""

    uplink: tuple[ImpairmentSpec, ...]
    downlink: tuple[ImpairmentSpec, ...]
    medium: MediumSpec | None = None
    radio: RadioSpec | None = None
    nat: NatSpec | None = None
    mtu: Unsigned32 | None = None
    family: AddressFamily | None = None
    """Absent means IPv4."""
    backend: LinkBackend | None = None
    """Absent means Wirelab's own."""


def is_netem(link: LinkSpec | Mapping[str, Any]) -> bool:
    """Whether the kernel's netem runs a link; a link may also be the JSON of one, or a row that has its `backend`."""
    backend = link.backend if isinstance(link, LinkSpec) else link.get("backend")
    return backend == LinkBackend.NETEM


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
    """Lateness of delivered packets in buckets; the last holds everything above the edge before it."""

    upper_ns: tuple[Unsigned, ...]
    packets: tuple[Unsigned, ...]
    max_ns: Unsigned


class DirectionReport(Received):
    """One direction of a trial's link: received + duplicated = delivered + dropped + held."""

    received: Unsigned
    duplicated: Unsigned = 0
    delivered: Unsigned
    dropped: tuple[DropCount, ...]
    held: Unsigned
    received_bytes: Unsigned
    delivered_bytes: Unsigned
    lateness: LatenessHistogram


class LinkReport(Received):
    """What the link process counted while one trial ran: uplink, then downlink."""

    directions: tuple[DirectionReport, ...]
    kernel_drops: Unsigned
    oversized: Unsigned
    clock_step: bool
    left_out_of_captures: Unsigned = 0
