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
from wirelab.experiment.link.signal import read_technology
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
            raise UnitError(f"'{stage}' occurs twice", hint="each stage has one place")
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
    """Keys of one direction. In `uplink` or `downlink` they override those of the link."""

    delay: Duration | None = Field(default=None, description="Mean one-way delay.")
    jitter: Jitter = Field(
        default=None,
        description="Spread of the one-way delay: a distribution and its standard deviation, or the half-width of "
        "`uniform`. A delay below 0 counts as 0. Packets keep their order unless `overtaking` is true.",
        examples=["normal 5 ms", "uniform 5 ms", "pareto 5 ms", "pareto-normal 5 ms", "none"],
    )
    jitter_correlation: Correlation = Field(
        default=0.0, description="netem's correlation of successive delays. Below 100 %."
    )
    overtaking: bool = Field(
        default=False, description="Each packet leaves by its own delay, also before earlier packets."
    )
    loss: Share | None = Field(default=None, description="Probability that a packet is lost, independent of others.")
    loss_correlation: Correlation = Field(
        default=0.0,
        description="netem's correlation of successive draws. It makes a loss below 50 % smaller; the report shows the "
        "resulting loss.",
    )
    gilbert_elliott: GilbertElliottTable | None = Field(
        default=None, description="Loss in bursts whose length is counted in packets, with netem's parameters."
    )
    gilbert_elliott_time: GilbertElliottTimeTable | None = Field(
        default=None, description="Loss in bursts whose length is a time."
    )
    four_state: FourStateTable | None = Field(default=None, description="netem's `loss state` with four states.")
    markov: MarkovTable | None = Field(
        default=None, description="Loss by a Markov chain of up to 64 states that moves with each packet."
    )
    loss_pattern: LossPatternTable | None = Field(
        default=None, description="Losses at fixed positions: every n-th packet, a pattern or a file."
    )
    reorder: Annotated[
        ReorderTable | None, BeforeValidator(none, json_schema_input_type=ReorderTable | Literal["none"])
    ] = Field(default=None, description="Packets that are held back, so that later ones overtake them.")
    duplicate: Chance | None = Field(default=None, description="Share of packets that leave twice.")
    corrupt: Chance | None = Field(default=None, description="Share of packets in which one bit is inverted.")
    rate: BitRate | None = Field(
        default=None, description="Link rate: the serialisation delay of packets follows from it."
    )
    burst: PositiveSize | None = Field(
        default=None, description="Makes `rate` a token bucket of this size.", examples=["15 kB"]
    )
    duty_cycle: PositiveShare | None = Field(
        default=None, description="Share of the time in which the sender may send at `rate`; it rests in between."
    )
    trace: Trace | None = Field(default=None, description="File of delivery opportunities in mahimahi's format.")
    schedule: ScheduleTable | None = Field(
        default=None,
        description="Delay, rate and loss that change at given times, in addition to `delay` or `rtt` and to `loss`. "
        "A later `rtt`, `delay` or `loss` does not remove those of the schedule.",
    )
    queue: Queue | None = Field(
        default=None,
        description="Bytes or packets that may wait behind the packet being sent. A trace or a schedule with rates "
        "needs it. For a `rate` the default is one bandwidth-delay product, at least 10 full packets.",
    )
    overhead: Overhead = Field(
        default=0, description="Bytes that the rate counts for each packet in addition to its IP length. Needs a rate."
    )
    outage: Annotated[
        OutageTable | None, BeforeValidator(none, json_schema_input_type=OutageTable | Literal["none"])
    ] = Field(default=None, description="Times without a link; with `hold` a handover that keeps packets.")
    order: Annotated[list[Stage], Field(min_length=1), AfterValidator(read_order)] | None = Field(
        default=None,
        description="Order in which packets pass the stages. `rate` stands for every kind of rate, `loss` for every "
        "kind of loss. Every stage of the link must be named.",
        json_schema_extra={"default": list(STAGES)},
    )


class LinkTable(DirectionTable):
    """Keys of a link. The keys of a direction stand here for both directions."""

    rtt: Duration | None = Field(
        default=None, description="Round-trip time without queues, split equally between the directions."
    )
    direction: Literal["both", "uplink", "downlink"] = Field(
        default="both", description="Direction in which loss acts. All else acts both ways."
    )
    uplink: DirectionTable | None = Field(
        default=None, description="Keys for the direction from client to server alone."
    )
    downlink: DirectionTable | None = Field(
        default=None, description="Keys for the direction from server to client alone."
    )
    medium: Medium = Field(
        default=None, description="What both directions share, behind their own stages: one frame at a time."
    )
    radio: Annotated[RadioTable | None, BeforeValidator(none, json_schema_input_type=RadioTable | Literal["none"])] = (
        Field(default=None, description="The client's radio sleeps while no packet passes, and takes time to wake.")
    )
    nat: Annotated[NatTable | None, BeforeValidator(none, json_schema_input_type=NatTable | Literal["none"])] = Field(
        default=None, description="Address translation whose mappings end some time after the last packet."
    )
    mtu: Annotated[Size, AfterValidator(read_mtu)] | None = Field(
        default=None,
        description=f"MTU of the endpoints' interfaces in IP bytes, {LEAST_MTU} B to {LANE_MTU} B.",
        examples=["1280 B"],
        json_schema_extra={"default": f"{LANE_MTU} B"},
    )
    family: Literal["ipv4", "ipv6"] | None = Field(
        default=None,
        description="IP version of the endpoints' addresses. IPv6 needs an MTU of 1280 B or more, and makes each "
        "header 20 B longer.",
        json_schema_extra={"default": "ipv4"},
    )
    backend: Literal["wirelab", "netem"] | None = Field(
        default=None,
        description="What runs the link: Wirelab's emulator, or the kernel's netem if it is available "
        "(docs/guide/links.md).",
        json_schema_extra={"default": "wirelab"},
    )
    signal: SignalLevel | None = Field(
        default=None,
        description="Received signal level. With `technology` it sets rate, ACK and frame error of the Wi-Fi medium "
        "(docs/guide/links.md).",
    )
    technology: Annotated[str, AfterValidator(read_technology)] | None = Field(
        default=None,
        description="Technology whose map from signal to rate applies. Needs a Wi-Fi medium.",
        examples=["802.11n"],
    )
    profile: str | None = Field(
        default=None,
        description="Link to start from: a shipped one (`wirelab list links`), or a file of your own.",
        examples=["wifi-n", "./mine.toml"],
    )
