"""What a client does with messages that failed, as written, and the `Retry` that it means."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from wirelab.experiment.file.arrival import WorkloadKeyError
from wirelab.experiment.file.quantities import MOST_32, PositiveDuration, Table, none
from wirelab.schema import Closed, IdleStart, Retry
from wirelab.schema.workload import ArrivalSpec
from wirelab.units import UnitError, format_duration, share

MOST_FACTOR = 1000
_FACTORS = "such as 2 or 1.5"


def read_factor(value: object) -> int:
    """`2` or `1.5` in percent."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnitError("should be a number", hint=_FACTORS)
    if value < 1:
        raise UnitError("is less than 1", hint=_FACTORS)
    if not value <= MOST_FACTOR:
        raise UnitError(f"is more than {MOST_FACTOR}", hint=_FACTORS)
    return _whole(value * 100, _FACTORS)


def read_jitter(value: object) -> int:
    """`"20 %"` in percent."""
    return _whole(share(value) * 100, 'such as "20 %"')


def _whole(percent: float, hint: str) -> int:
    found = round(percent)
    if abs(percent - found) > 1e-6:
        raise UnitError("is finer than 1 %", hint=hint)
    return found


Factor = Annotated[int, PlainValidator(read_factor), WithJsonSchema({"type": "number", "minimum": 1})]
Share = Annotated[int, PlainValidator(read_jitter), WithJsonSchema({"type": "string", "examples": ["20 %"]})]


class RetryTable(Table):
    """How a client keeps messages and sends them again, oldest first."""

    first: PositiveDuration = Field(
        default=2 * 10**9,
        description="The back-off after a failed attempt, if the one before did not fail.",
        json_schema_extra={"default": "2 s"},
    )
    factor: Factor = Field(
        default=200,
        description="Each further back-off by the one before. At least 1.",
        json_schema_extra={"default": 2},
    )
    longest: PositiveDuration = Field(
        default=300 * 10**9,
        description="The longest back-off, before its jitter.",
        json_schema_extra={"default": "5 min"},
    )
    jitter: Share = Field(
        default=20,
        description="Each back-off is up to half of this share of it longer or shorter, drawn from the trial's seed.",
        json_schema_extra={"default": "20 %"},
    )
    keep: PositiveDuration = Field(
        default=12 * 3600 * 10**9,
        description="A message that is kept for longer, counted from its intended start, has timed out. At least the "
        "`timeout`, which is of one attempt.",
        json_schema_extra={"default": "12 h"},
    )
    backlog: int = Field(
        default=100,
        ge=1,
        le=MOST_32,
        description="How many messages a client keeps, besides the one that is under way. One more drops the oldest, "
        "which has failed.",
    )

    def retry(self, arrival: ArrivalSpec, concurrency: int, timeout_ns: int) -> Retry:
        """What the data plane gets. Raises `WorkloadKeyError` if it does not go with the rest of the workload."""
        if isinstance(arrival, Closed):
            what = "a closed loop keeps nothing: the next message begins when one ends"
            raise WorkloadKeyError("retry", what, 'such as interval = "10 min"')
        if isinstance(arrival, IdleStart):
            what = "an idle start keeps nothing: its link is silent until the next message"
            raise WorkloadKeyError("retry", what, 'arrival = "periodic", with --clock virtual')
        if concurrency != 1:
            what = f"messages are sent in order, one at a time (concurrency = {concurrency})"
            raise WorkloadKeyError("retry", what, "concurrency = 1")
        if self.longest < self.first:
            what = f"{format_duration(self.longest)} is less than the first back-off of {format_duration(self.first)}"
            raise WorkloadKeyError("retry.longest", what, "a longer longest, or a shorter retry.first")
        if self.keep < timeout_ns:
            what = f"{format_duration(self.keep)} is less than the time-out of {format_duration(timeout_ns)}"
            raise WorkloadKeyError("retry.keep", what, "a longer keep, or a shorter workload.timeout")
        return Retry(
            first_ns=self.first,
            factor_percent=self.factor,
            longest_ns=self.longest,
            jitter_percent=self.jitter,
            keep_ns=self.keep,
            backlog=self.backlog,
        )


WrittenRetry = Annotated[RetryTable | None, BeforeValidator(none, json_schema_input_type=RetryTable | Literal["none"])]
