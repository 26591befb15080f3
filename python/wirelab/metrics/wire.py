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
        "link after the last one that counts had arrived from the other side, and two are a round trip. "
        "Acknowledgements count. Null for a load of a page, whose connections go on at once, and with netem, which "
        "does not say when a packet arrived.",
        _share("turns") / 2,
    ),
)
