"""Loss on the link and what the transports did about it."""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import Metric

METRICS = (
    Metric(
        "retransmissions",
        "",
        "TCP: segments of both directions that the link had seen before, from the packet log (a connection's share). "
        "QUIC: packets that the client declared lost (RFC 9002), since a QUIC packet is never retransmitted unchanged.",
        pl.when(pl.col("flow_transport") == "tcp")
        .then(pl.col("flow_retransmissions") / pl.col("flow_exchanges"))
        .otherwise(pl.col("client_retransmissions").cast(pl.Float64)),
    ),
    Metric(
        "spurious-retransmissions",
        "",
        "Spurious retransmissions: data that the link had delivered before, both directions, from the packet log (a "
        "connection's share): TCP segments, SYN included, and CoAP's confirmable messages; a copy still inside when "
        "the trial ended was not delivered. Null over QUIC and DTLS, which number every packet anew, and with netem, "
        "which does not say what it lost.",
        pl.col("flow_spurious") / pl.col("flow_exchanges"),
    ),
    Metric(
        "lost-packets",
        "",
        "Packets of both directions that the link dropped, from the packet log (a connection's share).",
        pl.col("flow_dropped") / pl.col("flow_exchanges"),
    ),
)
