"""What a radio model is fed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet at the client's radio.

    `time_ns` is when the radio was handed a packet of the client's, or had received one for it, in any one clock.
    `size` counts from the IP header on, in bytes: what the link layer adds is the radio's business.
    """

    time_ns: int
    up: bool
    size: int
