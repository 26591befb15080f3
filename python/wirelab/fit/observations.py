"""A measurement of a link, before anything is fitted to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wirelab.errors import WirelabError

Way = Literal["uplink", "downlink"]
WAYS: tuple[Way, Way] = ("uplink", "downlink")

Delays = NDArray[np.int64]
"""Nanoseconds, in the order in which the packets were sent."""

Lost = NDArray[np.bool_]
"""Whether each packet was lost, in the order in which they were sent."""


class MeasurementError(WirelabError):
    """A file that is not the measurement it should be, or too little of one."""


@dataclass(frozen=True)
class Source:
    """The file that a profile is fitted to."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Rate:
    """The most that was delivered in any second, IP bytes or acknowledged payload: a lower bound of the link's rate."""

    bits_per_second: int
    what: str


@dataclass(frozen=True)
class Observations:
    """Delays and losses of one measurement: its `kind` with the article, and what its packets are called.

    `lost` is of round trips, `lost_by_way` of single packets, where the measurement tells the directions apart; a way
    that is not in it was not seen. The one-way delays of `one_way_ns` are off by an unknown constant, the difference of
    two clocks, unless `clocks_agree`. `spread_is_links` is false where the packets measured were also those that filled
    the link's queue.
    """

    kind: str
    packets: str
    round_trips_ns: Delays
    lost: Lost | None = None
    lost_by_way: Mapping[Way, Lost] = field(default_factory=dict)
    one_way_ns: Mapping[Way, Delays] = field(default_factory=dict)
    clocks_agree: bool = False
    spread_is_links: bool = True
    interval_ns: int | None = None
    rates: Mapping[Way, Rate] = field(default_factory=dict)
    seen: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.round_trips_ns) == 0:
            raise MeasurementError(f"has no round trip: no time of an answer to its {self.packets}")
        if len(self.round_trips_ns) == 1:
            raise MeasurementError("has one round trip, and a spread needs two", hint="measure for longer")
