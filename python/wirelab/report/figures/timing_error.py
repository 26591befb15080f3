"""How late the emulator was in one trial, as a word of bars: small enough for a row of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

EDGES_US = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
"""Between the bars, so that those of all trials stand at the same places; the last bar is of all that is above."""
BARS = "▁▂▃▄▅▆▇█"
NONE = "·"
DECADES = 4
"""The lowest bar is of one packet in ten thousand or fewer: what matters is rare."""


def bars(upper_ns: Sequence[int], packets: Sequence[int]) -> str:
    """A bar for each step of timing error, its height by the logarithm of its share of the packets."""
    total = sum(packets)
    counts = [0] * (len(EDGES_US) + 1)
    for upper, count in zip(upper_ns, packets, strict=True):
        counts[sum(upper > edge * 1000 for edge in EDGES_US)] += count
    return "".join(_bar(count / total) if count else NONE for count in counts)


def _bar(share: float) -> str:
    height = 1 + math.log10(share) / DECADES
    return BARS[max(round(height * (len(BARS) - 1)), 0)]
