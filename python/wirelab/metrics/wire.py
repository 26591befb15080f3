"""What an exchange costs on the wire: IP bytes and packets that reached the link, so those lost on it count, and its
round trips.

A load of a page costs what all of its connections do.

The client's port leads from an exchange to its flow. Exchanges that share a connection share its cost equally,
handshake included; a connection's end (FIN, CONNECTION_CLOSE) counts to its exchanges even after the last byte of the
response.
"""

from __future__ import annotations

import polars as pl

from wirelab.metrics.base import Metric


def _share(column: str) -> pl.Expr:
    return pl.col(f"flow_{column}") / pl.col("flow_exchanges")


METRICS = (
    Metric("wire-up-bytes", "bytes", "IP bytes from client to server.", _share("up_bytes")),
    Metric("wire-down-bytes", "bytes", "IP bytes from server to client.", _share("down_bytes")),
    Metric("wire-bytes", "bytes", "IP bytes both ways.", _share("up_bytes") + _share("down_bytes")),
    Metric("wire-up-packets", "packets", "IP packets from client to server.", _share("up_packets")),
    Metric("wire-down-packets", "packets", "IP packets from server to client.", _share("down_packets")),
    Metric(
        "round-trips",
        "",
        "How often packets crossed the link there and back, one after the other. A packet counts if it reached the "
        "link once the one before had arrived from the other side; two are a round trip. Set-up, acknowledgements and "
        "the connection's end count. Lost packets do not count, nor what is under way when the trial ends. Exchanges "
        "that share a connection share its round trips, even if they run at once. Null for a load of a page, which "
        "may open several connections, and with netem, which does not say when packets arrive.",
        _share("turns") / 2,
    ),
)
