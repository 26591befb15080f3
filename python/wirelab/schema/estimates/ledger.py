"""Bytes of a captured scenario by purpose."""

from __future__ import annotations

from typing import Literal, NotRequired, get_args

from typing_extensions import TypedDict

from wirelab.schema.bounds import document
from wirelab.schema.estimates.numbers import EstimateRecord


@document
class Spent(TypedDict):
    """Bytes of one direction, for one exchange."""

    packets: float
    """Packets."""
    total: float
    """IP bytes that reached the link."""
    ip: float
    """IP headers."""
    transport: float
    """Headers of TCP and UDP, and frames of QUIC."""
    connection: float
    """TCP segments that open or close a connection."""
    acknowledgements: float
    """TCP segments and QUIC datagrams that only acknowledge."""
    retransmitted: float
    """Payload that TCP retransmitted."""
    handshake: float
    """Handshakes, tickets and alerts of TLS, DTLS and QUIC."""
    protection: float
    """Headers, nonces and tags that protect the application's bytes."""
    application: float
    """What the application protocol made: headers and payload."""
    sealed: float
    """Bytes that could not be opened without a secret."""
    other: float
    """Packets that are neither TCP nor UDP, and fragments."""
    payload: float | None
    """Bytes of messages in `application`; null if an exchange failed or something could not be opened."""
    headers: float | None
    """`application` without `payload`."""
    link_layer: float | None
    """What the link's own frames add to `total`; null of a link without frames."""


Part = Literal[
    "packets", "total", "ip", "transport", "connection", "acknowledgements", "retransmitted", "handshake", "protection",
    "application", "sealed", "other", "payload", "headers", "link_layer",
]  # fmt: skip
SPENT: tuple[Part, ...] = get_args(Part)
"""Keys of `Spent`."""


@document
class Day(TypedDict):
    """Bytes of a day of messages, both directions."""

    interval_s: float
    """Seconds between messages."""
    assumed: bool
    """True if nothing says how often a message is sent."""
    messages: float
    """Messages of a day."""
    one_connection: bool
    """True if one connection carries them all."""
    parts: dict[str, float | None]
    """Bytes of each part, both directions."""


@document
class LedgerRecord(TypedDict):
    """The bytes of a captured scenario by purpose."""

    exchanges: int
    """Exchanges that were captured."""
    trials: int
    """Trials that were captured."""
    total: EstimateRecord
    """IP bytes of both directions for one exchange, over trials."""
    up: NotRequired[Spent]
    """Uplink."""
    down: NotRequired[Spent]
    """Downlink."""
    connections: int
    """Connections that the exchanges opened."""
    day: NotRequired[Day]
    """A day of such messages."""
