"""The phases of an exchange. Those that happened add up to the time from its intended start to its end."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import LOOKED_UP, WAITED, Metric, since, when_completed

_CONNECTED = pl.coalesce("tcp_connect_ns", "name_lookup_ns", "start_ns")
_PREPARED = pl.coalesce("handshake_ns", "tcp_connect_ns", "name_lookup_ns", "start_ns")

METRICS = (
    Metric(
        "phase-wait-for-start",
        "ns",
        "From the intended start to the start: all places of an open loop were taken, or the client was late. With "
        "`retry` to the start of the last attempt. Null of an exchange that started when intended, as all do in a "
        "closed loop.",
        when_completed(pl.when(WAITED > 0).then(WAITED)),
    ),
    Metric(
        "phase-name-lookup",
        "ns",
        "Name lookup (curl's time_namelookup). Null for clients that are given an address.",
        when_completed(since("name_lookup_ns", pl.col("start_ns"))),
    ),
    Metric(
        "phase-connect",
        "ns",
        "TCP's three-way handshake (RFC 9293, section 3.5) as the client sees it (curl's time_connect - "
        "time_namelookup). Null over QUIC, UDP and persistent connections.",
        when_completed(since("tcp_connect_ns", LOOKED_UP)),
    ),
    Metric(
        "phase-handshake",
        "ns",
        "TLS or QUIC handshake until application data may be sent (curl's time_appconnect - time_connect). QUIC's "
        "contains its transport handshake. Null without either.",
        when_completed(since("handshake_ns", _CONNECTED)),
    ),
    Metric(
        "phase-wait",
        "ns",
        "From the moment the request can be sent to the first byte of the final response: sending the request, the "
        "path and the server.",
        when_completed(since("first_final_byte_ns", _PREPARED)),
    ),
    Metric(
        "phase-transfer",
        "ns",
        "From the first to the last byte of the final response; of a page from the document's first byte to the "
        "load's end.",
        when_completed(since("end_ns", pl.col("first_final_byte_ns"))),
    ),
)
