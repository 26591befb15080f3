"""The workload as written, and the `WorkloadSpec` it means."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from wirelab.experiment.quantities import PositiveDuration, Size, Table
from wirelab.schema import Closed, Fixed, Fresh, Kept, Poisson, WorkloadSpec
from wirelab.schema.workload import ArrivalSpec, ConnectionPolicy
from wirelab.units import UnitError, frequency_hz

MAX_CONNECTIONS = 10_000


def read_arrival(value: object) -> Closed | Fixed | Poisson:
    """`"closed"`, `{ fixed = "10 /s" }` or `{ poisson = "10 /s" }`."""
    match value:
        case "closed":
            return Closed()
        case {"fixed": rate, **rest} if not rest:
            return Fixed(rate_hz=_rate(rate))
        case {"poisson": rate, **rest} if not rest:
            return Poisson(rate_hz=_rate(rate))
    raise UnitError("is not an arrival process", hint='write "closed", { fixed = "10 /s" } or { poisson = "10 /s" }')


def read_connection(value: object) -> Fresh | Kept:
    """`"fresh"`, `"kept"` (one connection) or `{ kept = N }`."""
    match value:
        case "fresh":
            return Fresh()
        case "kept":
            return Kept(connections=1)
        case {"kept": int(connections), **rest} if not rest and connections is not True:
            if not 1 <= connections <= MAX_CONNECTIONS:
                raise UnitError("is not a number of connections", hint=f"1 to {MAX_CONNECTIONS}")
            return Kept(connections=connections)
    raise UnitError("is not a connection policy", hint='write "fresh", "kept" or { kept = 4 }')


Arrival = Annotated[
    ArrivalSpec,
    BeforeValidator(read_arrival),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "closed"},
                *(
                    {"type": "object", "required": [process], "properties": {process: {"type": "string"}}}
                    for process in ("fixed", "poisson")
                ),
            ]
        }
    ),
]
Connection = Annotated[
    ConnectionPolicy,
    BeforeValidator(read_connection),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["fresh", "kept"]},
                {"type": "object", "required": ["kept"], "properties": {"kept": {"type": "integer", "minimum": 1}}},
            ]
        }
    ),
]


class WorkloadTable(Table):
    """What the client does."""

    kind: Literal["request-response"] = "request-response"
    upload: Size = Field(default=0, description="Request body; more than 0 makes it a POST.")
    download: Size = Field(default=0, description="Response body.")
    connection: Connection = Field(
        default=Fresh(), description="A new connection for each exchange, or kept ones.", validate_default=False
    )
    exchanges: int = Field(default=10, ge=1, le=2**32 - 1, description="Exchanges of a trial.")
    concurrency: int = Field(default=1, ge=1, le=10_000, description="Exchanges under way at once.")
    arrival: Arrival = Field(default=Closed(), description="When exchanges are meant to start.", validate_default=False)
    timeout: PositiveDuration = Field(
        default=10 * 10**9,
        description="An exchange is given up after this long.",
        json_schema_extra={"default": "10 s"},
    )

    def spec(self) -> WorkloadSpec:
        """What the data plane is told."""
        return WorkloadSpec(
            upload_bytes=self.upload,
            download_bytes=self.download,
            exchanges=self.exchanges,
            arrival=self.arrival,
            concurrency=self.concurrency,
            timeout_ns=self.timeout,
            connection=self.connection,
        )


def _rate(value: object) -> float:
    rate = frequency_hz(value)
    if rate == 0:
        raise UnitError("an open loop needs a rate of more than 0")
    return rate
