"""One exchange as its client saw it (`crates/wirelab-schema/src/exchange.rs`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from wirelab.schema.base import Border, Unsigned


class Outcome(StrEnum):
    """How an exchange ended."""

    COMPLETED = "completed"
    SENT = "sent"
    """Handed to the transport, and nothing answers it: it has no response time."""
    FAILED = "failed"
    TIMED_OUT = "timed-out"
    UNSUPPORTED = "unsupported"
    NOT_CONFIRMED = "not-confirmed"
    """No endpoint says this: the packets of the link do not confirm what its client calls completed."""


class Exchange(Border):
    """A row of `exchanges.arrow` or `exchanges.jsonl`: the columns of every workload. Behind them are those of the
    workload's extension (`EXTENDED`).

    Instants are nanoseconds of CLOCK_MONOTONIC; a phase that did not happen or was not seen is null, never 0.
    """

    index: Unsigned = 0
    client: Unsigned = 0
    intended_start_ns: Unsigned = 0
    start_ns: Unsigned = 0
    name_lookup_ns: Unsigned | None = None
    tcp_connect_ns: Unsigned | None = None
    handshake_ns: Unsigned | None = None
    request_start_ns: Unsigned | None = None
    first_body_sent_ns: Unsigned | None = None
    first_response_byte_ns: Unsigned | None = None
    first_final_byte_ns: Unsigned | None = None
    end_ns: Unsigned = 0
    outcome: Outcome = Outcome.FAILED
    error: str | None = None
    status: Unsigned | None = None
    body_sent_bytes: Unsigned = 0
    body_received_bytes: Unsigned = 0
    local_port: Unsigned | None = None
    connection_reused: bool = False
    resumed: bool | None = None
    early_data: bool | None = None
    client_retransmissions: Unsigned | None = None
    smoothed_rtt_ns: Unsigned | None = None


class RequestExchange(Exchange):
    """A row of `request-response` or `telemetry`. Only a program run once for each exchange has the first two."""

    curl_starttransfer_ns: Unsigned | None = None
    program_end_ns: Unsigned | None = None
    place_ns: Unsigned | None = None
    """When one of the `concurrency` places was free for it; null in a closed loop, or if its client does not say."""
    attempts: Unsigned | None = None
    """How often its client tried to send it, the last time from `start_ns` on; null without the workload's `retry`."""


class MessageExchange(Exchange):
    """A row of `pubsub` or `stream`: one message at one subscriber."""

    copies: Unsigned | None = None


class PageExchange(Exchange):
    """A row of `page`: one load."""

    connections: Unsigned | None = None
    pushed_bytes: Unsigned | None = None
    wasted_pushed_bytes: Unsigned | None = None


EXTENDED: Mapping[str, type[Exchange]] = {
    "request-response": RequestExchange,
    "telemetry": RequestExchange,
    "pubsub": MessageExchange,
    "stream": MessageExchange,
    "page": PageExchange,
}
"""The row of each kind of workload."""
EXCHANGE_COLUMNS = tuple(Exchange.model_fields)
"""Columns of every workload, in order."""


def extension(kind: str) -> tuple[str, ...]:
    """The columns that a workload has behind those of every workload."""
    return tuple(name for name in EXTENDED[kind].model_fields if name not in EXCHANGE_COLUMNS)


def exchange_columns(kinds: Collection[str] = tuple(EXTENDED)) -> tuple[str, ...]:
    """The columns of a table with exchanges of these workloads, in order: those of every workload, then extensions."""
    extensions = (name for kind in EXTENDED if kind in kinds for name in extension(kind))
    return tuple(dict.fromkeys((*EXCHANGE_COLUMNS, *extensions)))


def workloads_with(column: str) -> tuple[str, ...]:
    """The kinds of workload whose extension has the column; none for any other column."""
    return tuple(kind for kind in EXTENDED if column in extension(kind))
