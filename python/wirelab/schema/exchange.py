"""One exchange as its client saw it (`crates/wirelab-schema/src/exchange.rs`)."""

from __future__ import annotations

from enum import StrEnum

from wirelab.schema.base import Border, Unsigned


class Outcome(StrEnum):
    """How an exchange ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed-out"
    UNSUPPORTED = "unsupported"


class Exchange(Border):
    """A row of `exchanges.arrow` or a line of `exchanges.jsonl`.

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
    curl_starttransfer_ns: Unsigned | None = None
    copies: Unsigned | None = None
    connections: Unsigned | None = None
    pushed_bytes: Unsigned | None = None
    wasted_pushed_bytes: Unsigned | None = None


EXCHANGE_COLUMNS = tuple(Exchange.model_fields)
"""Columns of `exchanges.arrow`, in order."""
