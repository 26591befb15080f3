"""A capture taken at one end of a link, as rows of `wirelab-agent capture`: the evidence of its TCP connections.

Round trips are from a segment to the acknowledgement that covers it, never of segments sent twice (Karn; RFC 6298,
section 3). Those of the end's own segments crossed the link; those of the other end's took no longer than this end's
answer, which tells where the capture was taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wirelab.fit.observations import WAYS, MeasurementError, Observations, Rate, Way
from wirelab.units import format_duration

Row = Mapping[str, Any]

_NEAR = 0.1
"""At an end of the link, its own answers take less than this share of the round trip."""
_SOON = 0.5
"""Share of the least round trip: what fills a gap sooner was only overtaken, and what is acknowledged sooner after it
was retransmitted had arrived the first time."""
_ACKNOWLEDGEMENTS = 0.05
"""A direction with less than this share of the other one carried only acknowledgements, which do not show its rate."""
_WINDOW_NS = 1_000_000_000
_LARGEST_PACKET = 1500


def observe_capture(rows: Iterable[Row]) -> Observations:
    """Round trips, losses and delivered rates of a capture's TCP connections, all of them together."""
    rows = [row for row in rows if row["transport"] == "tcp" and row["tcp_sequence"] is not None]
    if not rows:
        raise MeasurementError("has no TCP segments", hint="tcpdump -s 100 -w mine.pcap tcp, at one end of the link")
    rows.sort(key=lambda row: row["at_ns"])
    connections: dict[int, _Connection] = {}
    for row in rows:
        connections.setdefault(row["flow"], _Connection()).take(row)
    samples = {way: [each for one in connections.values() for each in one.sides[way].samples] for way in WAYS}
    if not any(samples.values()):
        raise MeasurementError("has no round trip: no segment that was sent once is acknowledged")
    near = max(WAYS, key=lambda way: min(samples[way], default=(-1, -1), key=_length)[1])
    trips = np.array([length for _, length in sorted(samples[near])], dtype=np.int64)
    soon = round(_SOON * int(trips.min()))
    sides = [(way, one.sides[way]) for one in connections.values() for way in WAYS]
    fates = {
        way: sorted(each for own, side in sides if own == way for each in _fates(side, soon, own == near))
        for way in WAYS
    }
    return Observations(
        kind="a capture",
        packets="segments",
        round_trips_ns=trips,
        lost_by_way={way: np.array([lost for _, lost in fates[way]], dtype=np.bool_) for way in WAYS if fates[way]},
        spread_is_links=False,
        rates=_rates(rows, near, sides),
        seen=tuple(_remarks(rows, near, samples)),
        unknown=(
            "How the round trip divides between the directions.",
            "The spread of the delay: round trips of a transfer contain its own queue and delayed acknowledgements, "
            "so no jitter is fitted.",
            "Losses of acknowledgements, and losses on the link apart from those of a queue that the transfer filled "
            "itself: emulate its queue and they come again.",
            "The rate, unless only the link limited the transfer; the delivered rate is a lower bound.",
            "Whether some losses were only reordering or spurious retransmissions.",
        ),
    )


@dataclass
class _Segment:
    """A segment at first sight; when it was last retransmitted, and when it was acknowledged."""

    start: int
    end: int
    at_ns: int
    again_ns: int | None = None
    acknowledged_ns: int | None = None


@dataclass
class _Side:
    """The segments of one end, in sequence numbers without wrapping."""

    latest: int = 0
    highest: int | None = None
    acknowledged: int = 0
    sent: list[_Segment] = field(default_factory=list)
    waiting: list[_Segment] = field(default_factory=list)
    samples: list[tuple[int, int]] = field(default_factory=list)
    """When a segment was sent, and how long its acknowledgement took."""
    gaps: list[tuple[int, int, int]] = field(default_factory=list)
    """When a gap was noticed, its start and its end."""
    filled: list[tuple[int, int]] = field(default_factory=list)
    """When a gap was noticed, and how long until a segment filled it."""
    progress: list[tuple[int, int]] = field(default_factory=list)
    """When bytes were acknowledged, and how many; not if the acknowledgement had waited for a retransmission."""

    def unwrapped(self, number: int) -> int:
        """The position that looks like this 32-bit number and is nearest to the latest."""
        half = 1 << 31
        return self.latest + (number - self.latest + half) % (1 << 32) - half

    def send(self, row: Row) -> None:
        """The next segment from this side."""
        flags, at_ns = row["tcp_flags"] or "", row["at_ns"]
        start = self.unwrapped(row["tcp_sequence"])
        end = start + row["payload_bytes"] + ("S" in flags) + ("F" in flags)
        if end == start:
            return
        self.latest = start
        if row["retransmission"]:
            for segment in self.waiting:
                if segment.start < end and start < segment.end:
                    segment.again_ns = at_ns
            return
        if self.highest is not None and start < self.highest:
            noticed = next((when for when, low, high in self.gaps if low <= start < high), at_ns)
            self.filled.append((noticed, at_ns - noticed))
            return
        if self.highest is not None and start > self.highest:
            self.gaps.append((at_ns, self.highest, start))
        segment = _Segment(start, end, at_ns)
        self.sent.append(segment)
        self.waiting.append(segment)
        self.highest = end

    def acknowledge(self, at_ns: int, number: int) -> None:
        """The other side has all bytes before `number`."""
        until = self.unwrapped(number)
        if until <= self.acknowledged:
            return
        covered = [segment for segment in self.waiting if segment.end <= until]
        self.waiting = self.waiting[len(covered) :]
        for segment in covered:
            segment.acknowledged_ns = at_ns
        if covered and all(segment.again_ns is None for segment in covered):
            self.samples.append((covered[-1].at_ns, at_ns - covered[-1].at_ns))
            self.progress.append((at_ns, until - self.acknowledged))
        self.acknowledged = until


class _Connection:
    def __init__(self) -> None:
        self.sides: dict[Way, _Side] = {way: _Side() for way in WAYS}

    def take(self, row: Row) -> None:
        """The next segment of either side, in order of time."""
        way, other = WAYS if row["uplink"] else WAYS[::-1]
        self.sides[way].send(row)
        if row["tcp_acknowledgement"] is not None:
            self.sides[other].acknowledge(row["at_ns"], row["tcp_acknowledgement"])


def _length(sample: tuple[int, int]) -> int:
    return sample[1]


def _fates(side: _Side, soon: int, is_near: bool) -> list[tuple[int, bool]]:
    """When each segment was seen first or missed, and whether it was lost.

    Near the sender, a loss is a retransmitted segment, unless its acknowledgement came too soon after that. Far from
    it, a loss is a gap that was filled too late for a reordered segment.
    """
    if is_near:
        return [(segment.at_ns, _was_lost(segment, soon)) for segment in side.sent]
    return [(segment.at_ns, False) for segment in side.sent] + [(at, took >= soon) for at, took in side.filled]


def _was_lost(segment: _Segment, soon: int) -> bool:
    if segment.again_ns is None:
        return False
    return segment.acknowledged_ns is None or segment.acknowledged_ns - segment.again_ns >= soon


def _rates(rows: Sequence[Row], near: Way, sides: Sequence[tuple[Way, _Side]]) -> dict[Way, Rate]:
    """The bytes that arrived here in the best second, and those that the other end acknowledged in its best."""
    far: Way = "downlink" if near == "uplink" else "uplink"
    arrived = [(row["at_ns"], row["size_bytes"]) for row in rows if row["uplink"] == (far == "uplink")]
    acknowledged = sorted(step for way, side in sides if way == near for step in side.progress)
    rates: dict[Way, Rate] = {}
    for way, steps, what in (
        (far, arrived, "IP bytes that arrived"),
        (near, acknowledged, "payload bytes that were acknowledged"),
    ):
        if steps and steps[-1][0] - steps[0][0] >= _WINDOW_NS:
            rates[way] = Rate(8 * _peak(steps), what)
    most = max((rate.bits_per_second for rate in rates.values()), default=0)
    return {way: rate for way, rate in rates.items() if rate.bits_per_second >= _ACKNOWLEDGEMENTS * most}


def _peak(steps: Sequence[tuple[int, int]]) -> int:
    """The most bytes in any second."""
    instants = np.array([at for at, _ in steps], dtype=np.int64)
    total = np.concatenate([[0], np.cumsum([size for _, size in steps])])
    ends = np.searchsorted(instants, instants + _WINDOW_NS, side="left")
    return int((total[ends] - total[:-1]).max())


def _remarks(rows: Sequence[Row], near: Way, samples: Mapping[Way, Sequence[tuple[int, int]]]) -> list[str]:
    end = "client" if near == "uplink" else "server"
    far: Way = "downlink" if near == "uplink" else "uplink"
    said = []
    if not samples[far]:
        said.append(f"Assumed to be taken at the {end}: only its own segments are acknowledged.")
    else:
        least = [min(samples[way], key=_length)[1] for way in (near, far)]
        if least[1] <= _NEAR * least[0]:
            said.append(f"Taken at the {end}, by how soon its own answers come.")
        else:
            said.append(
                f"Taken between the ends, it seems: one side answers after {format_duration(least[0])}, the other "
                f"after {format_duration(least[1])}. Only the longer part is fitted."
            )
    large = sum(row["size_bytes"] > _LARGEST_PACKET for row in rows)
    if large:
        said.append(
            f"{large} segments are longer than {_LARGEST_PACKET} bytes: the network card cuts or joins them, so that "
            "segments are not packets and the share of lost ones is too great."
        )
    return said
