"""Links as configured, measured and probed, and the timing error of their emulation."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from wirelab.schema.bounds import document
from wirelab.schema.estimates.numbers import EstimateRecord, Flag, Grade, Way


@document
class LinkConfigured(TypedDict):
    """One direction of a link as configured."""

    delay_s: float
    """Mean delay without queues, in seconds."""
    loss: float | None
    """Loss on purpose, as a fraction; null if it depends on when packets are sent."""
    rate_bps: int | None
    """Rate that the link sustains; null without a limit."""
    duplicated: NotRequired[float | None]
    """Fraction of packets that leave twice; null if it depends on when packets are sent. Absent without logs."""
    corrupted: NotRequired[float | None]
    """Fraction of packets with an inverted bit; null and absent likewise."""
    reordered: NotRequired[float | None]
    """Fraction of packets that are overtaken; null and absent likewise."""


@document
class DelayErrors(TypedDict):
    """The emulator's timing error; null with netem."""

    p50: float | None
    """Median in seconds."""
    p99: float | None
    """99th percentile in seconds."""
    max: float | None
    """Maximum in seconds."""


@document
class LinkMeasured(TypedDict):
    """One direction of a link as measured."""

    delay_error_s: DelayErrors
    """Timing error of the emulator."""
    loss: EstimateRecord
    """Fraction of packets that were lost."""
    packets: int
    """Packets that reached the link."""
    duplicated: NotRequired[EstimateRecord]
    """Fraction of packets that left twice."""
    corrupted: NotRequired[EstimateRecord]
    """Fraction of packets with an inverted bit."""
    reordered: NotRequired[EstimateRecord]
    """Fraction of packets that were overtaken."""


@document
class LinkRecord(TypedDict):
    """One direction of one distinct link, over the trials that count."""

    link_name: str
    """Name of the link."""
    direction: Way
    """Direction."""
    backend: str
    """`wirelab` or `netem`."""
    configured: LinkConfigured
    """As configured. Of a schedule it is over the time that its trials lasted."""
    measured: LinkMeasured
    """As measured."""
    flag: Flag
    """Quality of the emulation."""
    why: str
    """The reason, as a sentence."""


@document
class LaneLateness(TypedDict):
    """The emulator's timing error in the trials of one job, over all packets."""

    lane: int
    """Number of the job, from 0."""
    packets: int
    """Packets."""
    p50_s: float | None
    """Median in seconds."""
    p99_s: float | None
    """99th percentile in seconds."""
    p999_s: float | None
    """99.9th percentile in seconds."""
    max_s: float
    """Maximum in seconds."""


@document
class Replay(TypedDict):
    """Trials with a replayed packet log."""

    trials: int
    """Trials that are done."""
    replayed: int
    """Of these, trials whose packet log could be replayed."""
    reproduced: int
    """Of these, trials without a mismatch."""
    packets: int
    """Packets that were replayed."""
    mismatches: int
    """Packets that differ."""


@document
class CertificateLine(TypedDict):
    """One property of one direction, or of both, as probes found it."""

    name: str
    """Name of the property."""
    direction: Literal["uplink", "downlink", "both"]
    """Direction."""
    unit: str
    """`s`, `bit/s`, `share` or `packets`."""
    configured: float | None
    """The configured value."""
    measured: EstimateRecord | None
    """The measured value. The level of its interval is that of the whole family."""
    tolerance: float | None
    """The tolerated difference."""
    verdict: Literal["in", "out", "open", "unjudged"]
    """`in` or `out` of tolerance; `open` if the probes cannot tell; `unjudged`."""
    grade: Grade
    """Quality by this property."""
    why: str | None
    """The reason, as a sentence."""


@document
class CertificateRecord(TypedDict):
    """The calibration record of one link."""

    link_names: list[str]
    """Its names as the client's link."""
    topology_links: list[str]
    """Its names as another link of a topology."""
    flag: Grade
    """Quality by what is out of tolerance, without regard to how busy the machine was."""
    why: str
    """The reason, as a sentence."""
    probes: str
    """Folder of the probes."""
    backend: str
    """`wirelab` or `netem`."""
    grade: Grade
    """Quality."""
    lines: list[CertificateLine]
    """One entry for each property."""
