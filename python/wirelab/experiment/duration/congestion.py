"""What random loss leaves one connection, by its congestion control. Knows no protocol and no link.

Windows are means in packets. Reno: sqrt(3/2) / sqrt(p) (Mathis, Semke, Mahdavi and Ott, The macroscopic behavior of the
TCP congestion avoidance algorithm, 1997, doi:10.1145/263932.264023). CUBIC: RFC 9438, section 5.1, equation 6, and
never less than Reno's (section 4.3).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

CUBIC, RENO = "cubic", "reno"
CUBIC_C, CUBIC_BETA = 0.4, 0.7
"""RFC 9438, sections 4.2 and 4.6."""
WITHOUT_LOSS = ("bbr", "bbr2", "bbr3")
"""Algorithms that do not answer single losses."""
SEGMENT_BYTES = 1448
"""Of TCP over Ethernet, with timestamps."""


class Control(NamedTuple):
    """Congestion control of a connection."""

    algorithm: str = RENO
    packet_bytes: int = SEGMENT_BYTES
    """Application bytes of a full packet."""

    def reached_bps(self, loss: float, rtt_ns: int) -> float | None:
        """What one connection reaches at random loss; none if loss does not limit it."""
        if not loss or not rtt_ns or self.algorithm in WITHOUT_LOSS:
            return None
        window = sqrt(1.5 / loss)
        if self.algorithm == CUBIC:
            factor = (CUBIC_C * (3 + CUBIC_BETA) / (4 * (1 - CUBIC_BETA))) ** 0.25
            window = max(window, factor * (rtt_ns / 1e9 / loss) ** 0.75)
        return window * self.packet_bytes * 8e9 / rtt_ns
