"""What the endpoints of a trial do (`crates/wirelab-schema/src/workload.rs`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from wirelab.schema.base import Border, Unsigned


class Closed(Border):
    """The next exchange starts when one ends."""

    process: Literal["closed"] = "closed"


class Fixed(Border):
    """Open loop, evenly spaced."""

    process: Literal["fixed"] = "fixed"
    rate_hz: float


class Poisson(Border):
    """Open loop, exponential gaps."""

    process: Literal["poisson"] = "poisson"
    rate_hz: float


ArrivalSpec = Annotated[Closed | Fixed | Poisson, Field(discriminator="process")]


class Fresh(Border):
    """A new connection for each exchange."""

    policy: Literal["fresh"] = "fresh"


class Kept(Border):
    """Connections opened when first needed and kept."""

    policy: Literal["kept"] = "kept"
    connections: Unsigned


ConnectionPolicy = Annotated[Fresh | Kept, Field(discriminator="policy")]


class RequestResponse(Border):
    """A client sends requests, a server answers each."""

    kind: Literal["request-response"] = "request-response"
    upload_bytes: Unsigned
    download_bytes: Unsigned
    exchanges: Unsigned
    arrival: ArrivalSpec
    concurrency: Unsigned
    timeout_ns: Unsigned
    connection: ConnectionPolicy


WorkloadSpec = RequestResponse
"""The one workload kind so far; others join it in a union over `kind`."""
