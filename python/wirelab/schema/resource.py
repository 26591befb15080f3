"""One resource of a page's load as its client saw it (`ResourceTiming` of `crates/wirelab-schema/src/page.rs`)."""

from __future__ import annotations

from enum import StrEnum

from wirelab.schema.base import Border, Unsigned
from wirelab.schema.exchange import Outcome


class FoundBy(StrEnum):
    """How the client discovered a resource."""

    NAVIGATION = "navigation"
    BODY = "body"
    HINT = "hint"
    PUSH = "push"


class ResourceTiming(Border):
    """A row of `resources.arrow` or a line of `resources.jsonl`.

    Instants are nanoseconds of CLOCK_MONOTONIC; a phase that did not happen or was not seen is null, never 0. Those of
    a connection belong to the request for which it was opened.
    """

    exchange: Unsigned = 0
    """Index of the load."""
    client: Unsigned = 0
    resource: Unsigned | None = None
    """Index in the page's manifest; none for what the manifest does not have."""
    path: str = ""
    found_by: FoundBy = FoundBy.NAVIGATION
    discovered_ns: Unsigned = 0
    """When the client knew that it wants it (W3C Resource Timing, `fetchStart`)."""
    connection: Unsigned | None = None
    """Number of the connection within the load."""
    connection_reused: bool = False
    connect_start_ns: Unsigned | None = None
    tcp_connect_ns: Unsigned | None = None
    handshake_ns: Unsigned | None = None
    request_start_ns: Unsigned | None = None
    first_response_byte_ns: Unsigned | None = None
    end_ns: Unsigned = 0
    outcome: Outcome = Outcome.FAILED
    error: str | None = None
    status: Unsigned | None = None
    body_received_bytes: Unsigned = 0
    pushed: bool = False
    urgency: Unsigned | None = None
    """Of the request, as sent (RFC 9218, section 4.1)."""
    incremental: bool | None = None


RESOURCE_COLUMNS = tuple(ResourceTiming.model_fields)
"""Columns of `resources.arrow`, in order."""
