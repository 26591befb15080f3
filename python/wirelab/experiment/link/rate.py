"""What bounds a direction's rate, and the queue before it, as written."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainValidator, ValidationInfo, model_validator

from wirelab.experiment.file.quantities import (
    BitRateOrZero,
    Duration,
    Packets,
    PositiveDuration,
    PositiveSize,
    Share,
    Size,
    Table,
    choose,
    fits_a_packet,
    positive,
)
from wirelab.experiment.link.files import MAX_POINTS, Files, opportunities, replay
from wirelab.schema import Codel, DropTail, FqCodel, Outage, QueueSpec, SchedulePoint
from wirelab.units import UnitError, size_bytes, size_or_packets

TARGET_NS = 5 * 10**6
"""TARGET of RFC 8289 section 4.2 and RFC 8290 section 5.2.1."""
INTERVAL_NS = 100 * 10**6
"""INTERVAL of the same."""


class DropTailTable(Table):
    """First in, first out, with a bound in bytes, in packets or in both."""

    discipline: Literal["drop-tail"]
    bytes: Size | None = Field(default=None, description="Bytes that may wait behind the packet being sent.")
    packets: Packets | None = Field(default=None, description="Packets that may wait.")

    @model_validator(mode="after")
    def _is_bounded(self) -> DropTailTable:
        if self.bytes is None and self.packets is None:
            raise UnitError("needs bytes or packets", hint='such as bytes = "64 kB"')
        return self

    def spec(self) -> DropTail:
        return DropTail(bytes=self.bytes, packets=self.packets)


class CodelTable(Table):
    """CoDel (RFC 8289) with a drop-tail bound."""

    discipline: Literal["codel"]
    target: PositiveDuration = Field(
        default=TARGET_NS,
        description="Acceptable delay of a standing queue (TARGET).",
        json_schema_extra={"default": "5 ms"},
    )
    interval: PositiveDuration = Field(
        default=INTERVAL_NS,
        description="About the longest round trip (INTERVAL).",
        json_schema_extra={"default": "100 ms"},
    )
    limit: PositiveSize = Field(description="Bytes that may wait; more are dropped.")

    def spec(self) -> Codel:
        return Codel(target_ns=self.target, interval_ns=self.interval, bytes=self.limit)


class FqCodelTable(Table):
    """FQ-CoDel, with the defaults of RFC 8290 section 5.2."""

    discipline: Literal["fq-codel"]
    target: PositiveDuration = Field(
        default=TARGET_NS,
        description="Acceptable delay of a standing queue (TARGET).",
        json_schema_extra={"default": "5 ms"},
    )
    interval: PositiveDuration = Field(
        default=INTERVAL_NS,
        description="About the longest round trip (INTERVAL).",
        json_schema_extra={"default": "100 ms"},
    )
    flows: int = Field(default=1024, ge=1, le=65536, description="Number of queues that flows are hashed to.")
    quantum: Annotated[int, *positive(size_bytes, "1514 B"), AfterValidator(fits_a_packet)] = Field(
        default=1514, description="Bytes that a queue may send in its turn.", json_schema_extra={"default": "1514 B"}
    )
    limit: Packets = Field(
        default=10_240,
        description="Packets that may wait in all queues together.",
        json_schema_extra={"default": "10240 packets"},
    )

    def spec(self) -> FqCodel:
        return FqCodel(
            target_ns=self.target,
            interval_ns=self.interval,
            flows=self.flows,
            quantum_bytes=self.quantum,
            packets=self.limit,
        )


_QUEUES: dict[str, type[DropTailTable | CodelTable | FqCodelTable]] = {
    "drop-tail": DropTailTable,
    "codel": CodelTable,
    "fq-codel": FqCodelTable,
}


def read_queue(value: object, info: ValidationInfo) -> QueueSpec:
    """`"64 kB"` or `"100 packets"` (drop-tail), or a table with a discipline."""
    if isinstance(value, Mapping):
        table: DropTailTable | CodelTable | FqCodelTable = choose("discipline", _QUEUES, value, info)
        return table.spec()
    return read_limit(value)


def read_limit(value: object) -> DropTail:
    """`"64 kB"` or `"100 packets"`."""
    size, packets = size_or_packets(value)
    if packets is not None and not 0 < packets < 2**32:
        raise UnitError("is not a number of packets", hint='such as "100 packets"')
    return DropTail(bytes=size, packets=packets)


_Text = Annotated[str, Field(pattern=r"^\s*[0-9.]", examples=["64 kB", "100 packets"])]
Limit = Annotated[DropTail, PlainValidator(read_limit, json_schema_input_type=_Text)]
Queue = Annotated[
    QueueSpec, PlainValidator(read_queue, json_schema_input_type=_Text | DropTailTable | CodelTable | FqCodelTable)
]


def read_trace(value: object, info: ValidationInfo) -> tuple[int, ...]:
    """A file of delivery opportunities."""
    return Files.of(info).read(value, opportunities)


Trace = Annotated[
    tuple[int, ...],
    PlainValidator(read_trace, json_schema_input_type=Annotated[str, Field(examples=["up.trace"])]),
]


class PointTable(Table):
    """What holds from an instant on. A key that is left out means no delay, no limit or no loss."""

    at: Duration = Field(description="Time from which the point holds, counted from the link's first packet.")
    delay: Duration | None = Field(default=None, description="One-way delay.")
    rate: BitRateOrZero | None = Field(default=None, description="Rate; 0 sends nothing until the next point.")
    loss: Share | None = Field(default=None, description="Probability that a packet is lost.")


def read_replay(value: object, info: ValidationInfo) -> tuple[SchedulePoint, ...]:
    """A CSV file of instants and what holds from them on."""
    return Files.of(info).read(value, replay)


class ScheduleTable(Table):
    """Delay, rate and loss that change at given times: one of `points` and `file`."""

    points: Annotated[list[PointTable], Field(max_length=MAX_POINTS)] | None = Field(
        default=None,
        description="Points in order of time, the first at 0 s.",
        examples=[[{"at": "0 s", "rate": "1 Mbit/s", "delay": "20 ms", "loss": "1 %"}, {"at": "30 s"}]],
    )
    file: Annotated[tuple[SchedulePoint, ...], PlainValidator(read_replay, json_schema_input_type=str)] | None = Field(
        default=None,
        description="CSV file with a header such as `time_s,delay_ms,rate_kbps,loss`.",
        examples=["replay.csv"],
    )
    repeat: PositiveDuration | None = Field(
        default=None,
        description="Length after which the schedule begins again. Without it the last point holds to the end.",
    )

    @model_validator(mode="after")
    def _is_in_order(self) -> ScheduleTable:
        if (self.points is None) == (self.file is None):
            raise UnitError("needs either points or file")
        points = self.spec_points()
        if not points or points[0].at_ns != 0:
            raise UnitError("the first point is at 0 s", hint='write { at = "0 s", … } first')
        for number, (before, after) in enumerate(pairwise(points), 2):
            if after.at_ns <= before.at_ns:
                raise UnitError(f"point {number} is not later than the one before", hint="order them by at")
        if all(point.rate_bps == 0 for point in points):
            raise UnitError("has a rate of 0 throughout", hint="nothing would ever be sent")
        if self.repeat is not None and self.repeat <= points[-1].at_ns:
            raise UnitError("repeat is not later than the last point", hint="it is the length of the whole schedule")
        return self

    def spec_points(self) -> tuple[SchedulePoint, ...]:
        """As the data plane takes them."""
        if self.file is not None:
            return self.file
        return tuple(
            SchedulePoint(at_ns=point.at, delay_ns=point.delay, rate_bps=point.rate, loss=point.loss)
            for point in self.points or ()
        )


class OutageTable(Table):
    """Times without a link; with `hold` a handover."""

    start: Duration = Field(description="Start of the first outage, counted from the link's first packet.")
    duration: PositiveDuration = Field(description="How long each outage lasts.")
    every: PositiveDuration | None = Field(
        default=None, description="Time from the start of one outage to the start of the next. Without it there is one."
    )
    hold: Size | None = Field(
        default=None,
        description="Bytes that are kept during an outage and leave at its end. Without it all are dropped.",
    )

    @model_validator(mode="after")
    def _ends(self) -> OutageTable:
        if self.every is not None and self.every <= self.duration:
            raise UnitError("every is not longer than duration", hint="there must be a link in between")
        return self

    def spec(self) -> Outage:
        return Outage(start_ns=self.start, duration_ns=self.duration, every_ns=self.every, hold_bytes=self.hold)
