"""Links as told to the data plane, and what it counted (`crates/wirelab-schema/src/link.rs`)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from wirelab.schema.base import Border, Probability, Received, Unsigned


class NormalJitter(Border):
    """Normal around the mean."""

    distribution: Literal["normal"] = "normal"
    sigma_ns: Unsigned


class UniformJitter(Border):
    """Uniform on mean ± half-width."""

    distribution: Literal["uniform"] = "uniform"
    half_width_ns: Unsigned


JitterSpec = Annotated[NormalJitter | UniformJitter, Field(discriminator="distribution")]


class Delay(Border):
    """Propagation delay, constant without `jitter`."""

    kind: Literal["delay"] = "delay"
    delay_ns: Unsigned
    jitter: JitterSpec | None = None


class Loss(Border):
    """Independent loss."""

    kind: Literal["loss"] = "loss"
    probability: Probability


class GilbertElliott(Border):
    """Gilbert-Elliott loss per packet, netem's parameters and convention."""

    kind: Literal["gilbert-elliott"] = "gilbert-elliott"
    p: Probability
    r: Probability
    bad_loss: Probability
    good_loss: Probability


class GilbertElliottTime(Border):
    """Gilbert-Elliott loss whose state evolves in time."""

    kind: Literal["gilbert-elliott-time"] = "gilbert-elliott-time"
    good_ns: Unsigned
    bad_ns: Unsigned
    bad_loss: Probability
    good_loss: Probability


class Rate(Border):
    """Serialisation at a fixed rate behind a bounded drop-tail queue."""

    kind: Literal["rate"] = "rate"
    rate_bps: Unsigned
    queue_bytes: Unsigned
    overhead_bytes: Unsigned = 0


ImpairmentSpec = Annotated[
    Delay | Loss | GilbertElliott | GilbertElliottTime | Rate,
    Field(discriminator="kind"),
]


class MediumSpec(Border):
    """A serialiser that both directions share."""

    rate_bps: Unsigned
    queue_bytes: Unsigned
    overhead_bytes: Unsigned = 0


class LinkSpec(Border):
    """A chain of impairments per direction; uplink is from client to server."""

    uplink: tuple[ImpairmentSpec, ...]
    downlink: tuple[ImpairmentSpec, ...]
    medium: MediumSpec | None = None


class DropCause(StrEnum):
    """Why the link dropped a packet."""

    LOSS = "loss"
    QUEUE_FULL = "queue-full"


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
    """One direction of a trial's link."""

    received: Unsigned
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
