"""A link as written: its keys and what their values may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from wirelab.errors import did_you_mean
from wirelab.experiment.file.quantities import (
    BitRate,
    Correlation,
    Duration,
    Overhead,
    PositiveShare,
    PositiveSize,
    Share,
    SignalLevel,
    Size,
    Table,
    none,
)
from wirelab.experiment.link.delay import Chance, Jitter, ReorderTable
from wirelab.experiment.link.loss import (
    FourStateTable,
    GilbertElliottTable,
    GilbertElliottTimeTable,
    LossPatternTable,
    MarkovTable,
)
from wirelab.experiment.link.plain import kind_of, plain_keys
from wirelab.experiment.link.rate import OutageTable, Queue, ScheduleTable, Trace
from wirelab.experiment.link.shared import Medium, NatTable, RadioTable
from wirelab.schema import ImpairmentSpec
from wirelab.schema.link_spec import SLOTS
from wirelab.units import UnitError

OWN_KEYS = frozenset({
    "outage", "rate", "token-bucket", "delivery-trace", "schedule", "duty-cycle", "loss", "gilbert-elliott",
    "gilbert-elliott-time", "four-state", "markov", "loss-pattern", "corrupt", "duplicate", "delay", "reorder",
})  # fmt: skip
"""Kinds of impairments whose keys are written below: together they make the stage of their slot. Of any other kind the
key is made from its model, and is a stage by itself.
"""
_PLAIN = plain_keys(each for each in get_args(get_args(ImpairmentSpec)[0]) if kind_of(each) not in OWN_KEYS)
PLAIN_KINDS = frozenset(name.replace("_", "-") for name in _PLAIN.model_fields)
"""Kinds whose keys are made from their models."""
STAGES = tuple(dict.fromkeys(slot if kind in OWN_KEYS else kind for kind, slot in SLOTS.items()))
"""Stages of a direction in the order in which packets pass them unless `order` says otherwise."""
LEAST_MTU, LEAST_IPV6_MTU, LANE_MTU = 68, 1280, 1500
"""RFC 791: every host forwards 68 bytes; RFC 8200, section 5: every link carries 1280 bytes; and what lanes carry, the
endpoints' MTU unless the link gives one."""


def read_order(value: list[str]) -> list[str]:
    """Stages, each once."""
    for stage in value:
        if stage not in STAGES:
            raise UnitError(f"unknown stage '{stage}'", hint=did_you_mean(stage, STAGES))
        if value.count(stage) > 1:
            raise UnitError(f"'{stage}' stands twice", hint="each stage has one place")
    return value


def read_mtu(value: int) -> int:
    """An MTU that IP can have."""
    if not LEAST_MTU <= value <= LANE_MTU:
        raise UnitError("is not an MTU of a link", hint=f"{LEAST_MTU} B to {LANE_MTU} B; IPv6 needs {LEAST_IPV6_MTU} B")
    return value


if TYPE_CHECKING:
    _PlainKeys = Table
else:
    _PlainKeys = _PLAIN

Stage = Annotated[str, WithJsonSchema({"enum": list(STAGES)})]


class DirectionTable(_PlainKeys):
    """What one direction has; each key overrides the link's own."""

    delay: Duration | None = Field(default=None, description="One-way delay.")
    jitter: Jitter = Field(default=None, description="Spread of the one-way delay.")
    jitter_correlation: Correlation = Field(default=0.0, description="netem's correlation of successive delays.")
    overtaking: bool = Field(default=False, description="Packets leave by their own delay, also before earlier ones.")
    loss: Share | None = Field(default=None, description="Loss per packet.")
    loss_correlation: Correlation = Field(default=0.0, description="netem's correlation of successive losses.")
    gilbert_elliott: GilbertElliottTable | None = None
    gilbert_elliott_time: GilbertElliottTimeTable | None = None
    four_state: FourStateTable | None = None
    markov: MarkovTable | None = None
    loss_pattern: LossPatternTable | None = None
    reorder: Annotated[
        ReorderTable | None, BeforeValidator(none, json_schema_input_type=ReorderTable | Literal["none"])
    ] = None
    duplicate: Chance | None = Field(default=None, description="Share of packets that leave twice.")
    corrupt: Chance | None = Field(default=None, description="Share of packets of which one bit is inverted.")
    rate: BitRate | None = Field(default=None, description="Rate at which packets are serialised.")
    burst: PositiveSize | None = Field(default=None, description="Makes the rate a token bucket of this size.")
    duty_cycle: PositiveShare | None = Field(default=None, description="Share of the time that may be used to send.")
    trace: Trace | None = Field(default=None, description="File of delivery opportunities, as mahimahi has it.")
    schedule: ScheduleTable | None = None
    queue: Queue | None = Field(default=None, description="What may wait behind the packet being sent.")
    overhead: Overhead = Field(
        default=0, description="Bytes that the rate counts for each packet in addition to its IP length."
    )
    outage: Annotated[
        OutageTable | None, BeforeValidator(none, json_schema_input_type=OutageTable | Literal["none"])
    ] = None
    order: Annotated[list[Stage], Field(min_length=1), AfterValidator(read_order)] | None = Field(
        default=None, description=f"Order of the stages; by default {', '.join(STAGES)}."
    )


class LinkTable(DirectionTable):
    """A link; what a direction can have acts on both directions unless said otherwise."""

    rtt: Duration | None = Field(default=None, description="Round-trip time, split equally between the directions.")
    direction: Literal["both", "uplink", "downlink"] = Field(default="both", description="Which way loss acts.")
    uplink: DirectionTable | None = Field(default=None, description="From client to server.")
    downlink: DirectionTable | None = Field(default=None, description="From server to client.")
    medium: Medium = Field(default=None, description="What both directions share, such as half-duplex air.")
    radio: Annotated[RadioTable | None, BeforeValidator(none, json_schema_input_type=RadioTable | Literal["none"])] = (
        None
    )
    nat: Annotated[NatTable | None, BeforeValidator(none, json_schema_input_type=NatTable | Literal["none"])] = None
    mtu: Annotated[Size, AfterValidator(read_mtu)] | None = Field(
        default=None, description="MTU of the endpoints' interfaces, IP bytes."
    )
    family: Literal["ipv4", "ipv6"] | None = Field(
        default=None,
        description="IP of the endpoints' addresses, by default ipv4; ipv6 needs an MTU of 1280 B or more.",
    )
    backend: Literal["wirelab", "netem"] | None = Field(
        default=None, description="What runs the link, by default wirelab; netem where the kernel has it."
    )
    signal: SignalLevel | None = Field(
        default=None, description="Received level, from which the technology's keys follow."
    )
    technology: str | None = Field(default=None, description="What the signal level belongs to, such as 802.11n.")
    profile: str | None = Field(default=None, description="A shipped link to start from; see `wirelab list links`.")
