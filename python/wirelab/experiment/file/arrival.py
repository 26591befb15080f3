"""The arrival process as written, and the `ArrivalSpec` that it means together with `interval` and `jitter`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import PlainValidator, WithJsonSchema

from wirelab.schema import Bursts, Closed, Fixed, IdleStart, Periodic, Poisson
from wirelab.schema.workload import ArrivalSpec
from wirelab.units import UnitError, duration_ns, format_duration, frequency_hz

FORMS = (
    '"closed", "periodic", "poisson", "idle-start", { burst = "2 /s", for = "10 s" }, { fixed = "10 /s" }, '
    '{ poisson = "10 /s" }'
)
INTERVAL = 'such as interval = "10 min"'


@dataclass(frozen=True)
class Burst:
    """The burst of an interval."""

    rate_hz: float
    duration_ns: int


WrittenArrival = Closed | Fixed | Poisson | Literal["periodic", "poisson", "idle-start"] | Burst


class WorkloadKeyError(UnitError):
    """A value of a workload's key that does not go with those of others."""

    def __init__(self, key: str, what: str, hint: str | None = None) -> None:
        super().__init__(what, hint)
        self.key = key


def read_rate(value: object) -> float:
    """`"10 /s"`, more than 0."""
    rate = frequency_hz(value)
    if rate == 0:
        raise UnitError("an open loop needs a rate of more than 0")
    return rate


def read_arrival(value: object) -> WrittenArrival:
    """A word, or a table with a rate."""
    match value:
        case "closed":
            return Closed()
        case "periodic" | "poisson" | "idle-start" as word:
            return word
        case {"fixed": rate, **rest} if not rest:
            return Fixed(rate_hz=read_rate(rate))
        case {"poisson": rate, **rest} if not rest:
            return Poisson(rate_hz=read_rate(rate))
        case {"burst": rate, "for": duration, **rest} if not rest:
            burst = Burst(read_rate(rate), duration_ns(duration, "s"))
            if burst.duration_ns == 0:
                raise UnitError("a burst needs a duration of more than 0", hint='such as for = "10 s"')
            return burst
        case {"burst": _, **rest} if not rest:
            raise UnitError("a burst without an end", hint='such as for = "10 s"')
    raise UnitError("is not an arrival process", hint=f"write {FORMS}")


def arrival_spec(written: WrittenArrival | None, interval_ns: int | None, jitter_ns: int) -> ArrivalSpec | None:
    """What the three say together, none if they say nothing. Raises `WorkloadKeyError` if they do not go together."""
    found: ArrivalSpec | None
    if interval_ns is None:
        if isinstance(written, str | Burst):
            name = written if isinstance(written, str) else "a burst"
            raise WorkloadKeyError("arrival", f"{name} needs the time between messages", INTERVAL)
        found = written
    else:
        found = _in_intervals(written, interval_ns, jitter_ns)
    if jitter_ns and not isinstance(found, Periodic):
        what = "only messages at an interval have a jitter"
        raise WorkloadKeyError("jitter", what, 'interval = "10 min", with arrival = "periodic" or without it')
    return found


def _in_intervals(written: WrittenArrival | None, interval_ns: int, jitter_ns: int) -> ArrivalSpec:
    interval = format_duration(interval_ns)
    match written:
        case None | "periodic":
            if jitter_ns > interval_ns:
                what = f"{format_duration(jitter_ns)} is more than the interval of {interval}"
                raise WorkloadKeyError("jitter", what)
            return Periodic(interval_ns=interval_ns, jitter_ns=jitter_ns)
        case "poisson":
            return Poisson(rate_hz=1e9 / interval_ns)
        case "idle-start":
            return IdleStart(interval_ns=interval_ns)
        case Burst():
            if written.duration_ns > interval_ns:
                what = f"a burst of {format_duration(written.duration_ns)} does not fit its interval of {interval}"
                raise WorkloadKeyError("arrival", what)
            return Bursts(interval_ns=interval_ns, rate_hz=written.rate_hz, duration_ns=written.duration_ns)
        case Fixed() | Poisson():
            what = f'the arrival has a rate of its own ({{ {written.process} = "{written.rate_hz:.4g} /s" }})'
        case Closed():
            what = "a closed loop has no interval: the next message begins when one ends"
    raise WorkloadKeyError("interval", what, 'leave one of them out; arrival = "periodic" goes with an interval')


Arrival = Annotated[
    WrittenArrival,
    PlainValidator(read_arrival),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["closed", "periodic", "poisson", "idle-start"]},
                *(
                    {
                        "type": "object",
                        "required": list(keys),
                        "properties": {key: {"type": "string"} for key in keys},
                    }
                    for keys in (("fixed",), ("poisson",), ("burst", "for"))
                ),
            ]
        }
    ),
]
