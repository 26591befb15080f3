"""A trial's time as its client's radio spends it: set-ups, messages with the time behind them, and the end. Pure.

Instants are of the device: where the link rested, its clock and the device's are ahead of this machine's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from wirelab.schema import Persistent
from wirelab.schema.workload import WorkloadSpec
from wirelab_energy import Packet

Row = Mapping[str, Any]
"""An exchange of `exchanges.parquet`, or one as its client wrote it."""
Kind = Literal["setup", "message", "closing"]


class Logged(NamedTuple):
    """A packet at the client's radio, on this machine's clock, and how far the link's clock was ahead of it then."""

    packet: Packet
    port: int | None
    rested_ns: int = 0

    @property
    def on_device(self) -> Packet:
        """The packet on the device's clock."""
        return Packet(self.packet.time_ns + self.rested_ns, self.packet.up, self.packet.size)


@dataclass(frozen=True)
class Part:
    """A part of a trial's time, up to the next one's start, and whose it is: the place of an exchange among the rows.

    `counts`: a message whose energy is that of any other. One that opened a connection shares what woke the radio with
    the set-up.
    """

    kind: Kind
    place: int | None
    start_ns: int
    counts: bool = False


def parts(rows: Sequence[Row], workload: WorkloadSpec, packets: Sequence[Logged]) -> list[Part]:
    """The parts of the trial of one client with these exchanges, in order; none without exchanges. The last one goes on
    for as long as the radio does.

    A message's part begins when it is due, and ends when the next one is. The last message's part ends a gap after it.
    What comes before the first is set-up, and so is the opening of a persistent connection up to the request.
    """
    if not rows:
        return []
    clock = DeviceClock(packets)
    due = [clock.at(_due_ns(row)) for row in rows]
    order = sorted(range(len(rows)), key=lambda place: (due[place], rows[place]["index"]))
    starts = [due[place] for place in order]
    found: list[Part] = []
    if clock.instants and clock.instants[0] < starts[0]:
        found.append(Part("setup", order[0], clock.instants[0]))
    end_ns = end_of(workload, starts)
    persistent = isinstance(getattr(workload, "connection", None), Persistent)
    for nth, (place, start_ns) in enumerate(zip(order, starts, strict=True)):
        next_ns = starts[nth + 1] if nth + 1 < len(starts) else end_ns
        opens = persistent and _opens(rows[place], first=nth == 0)
        message = _message(rows[place], place, start_ns, next_ns, clock) if opens else None
        found += message or [Part("message", place, start_ns, counts=rows[place]["outcome"] != "unsupported")]
    return [*found, *([] if end_ns is None else [Part("closing", None, max(end_ns, found[-1].start_ns))])]


def end_of(workload: WorkloadSpec, starts: Sequence[int]) -> int | None:
    """When the message after the last would be due; None where messages follow one another. `starts` are on the
    device's clock, in order.

    The connections may be closed then, which is not of the last message: where the instant is known within bounds only,
    it is the earliest.
    """
    gap_ns = workload.gap_ns
    if gap_ns is None:
        return None
    arrival, device = getattr(workload, "arrival", None), getattr(workload, "device", None)
    # The rest of an interval with a burst is behind the whole burst.
    interval_ns = getattr(arrival, "interval_ns", gap_ns)
    burst = max(1, round(interval_ns / gap_ns))
    last = starts[(len(starts) - 1) // burst * burst]
    early_ns = getattr(arrival, "jitter_ns", 0) / 2
    if device is not None:
        early_ns += interval_ns * device.drift_ppb / 1e9
    return max(last + int(interval_ns - early_ns), starts[-1])


class DeviceClock:
    """The clock of a device whose link rested, as its packets show it."""

    def __init__(self, packets: Sequence[Logged]) -> None:
        self._packets = packets
        self._times = [each.packet.time_ns for each in packets]
        self.instants = [each.on_device.time_ns for each in packets]
        """Of the packets, in order."""

    def at(self, instant_ns: int) -> int:
        """When an instant of this machine's clock was. A rest is over when the next exchange starts, so the device is
        as far ahead as at the next packet.
        """
        if not self._packets:
            return instant_ns
        place = bisect_left(self._times, instant_ns)
        return instant_ns + self._packets[min(place, len(self._packets) - 1)].rested_ns

    def any_between(self, start_ns: int, end_ns: int) -> bool:
        """Whether a packet lies between two instants of the device."""
        return bisect_left(self.instants, start_ns) < bisect_left(self.instants, end_ns)


def owners(rows: Sequence[Row], packets: Iterable[Logged], *, by_time: bool) -> list[int | None]:
    """The place of each packet's exchange: of its client's port, or of any if `by_time`, the latest one to have begun
    there; what came before the first is the first one's. Packets of other ports are nobody's.
    """
    begun: defaultdict[int | None, list[tuple[int, int]]] = defaultdict(list)
    for place, row in enumerate(rows):
        begun[None if by_time else row["local_port"]].append((row["start_ns"], place))
    for starts in begun.values():
        starts.sort()
    found: list[int | None] = []
    for each in packets:
        starts = begun.get(None if by_time else each.port, [])
        known = starts and (by_time or each.port is not None)
        latest = bisect_right(starts, (each.packet.time_ns, len(rows))) - 1
        found.append(starts[max(latest, 0)][1] if known else None)
    return found


def by_client(
    rows: Sequence[Row], packets: Sequence[Logged], owned: Sequence[int | None]
) -> Iterator[tuple[list[int], list[Logged]]]:
    """For each client the places of its rows, and its packets. `owned` has the place of each packet's exchange.

    A client that is alone has every packet, also what belongs to no exchange.
    """
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        places[row["client"]].append(place)
    if len(places) == 1:
        yield from ((mine, list(packets)) for mine in places.values())
        return
    sent: defaultdict[int, list[Logged]] = defaultdict(list)
    for packet, owner in zip(packets, owned, strict=True):
        if owner is not None:
            sent[rows[owner]["client"]].append(packet)
    for client, mine in places.items():
        yield mine, sent[client]


def _due_ns(row: Row) -> int:
    """When it was due. A client that does not say so began then."""
    intended = row.get("intended_start_ns")
    return int(row["start_ns"] if intended is None else intended)


def _opens(row: Row, *, first: bool) -> bool:
    """Whether an exchange opened its connection. Of a client that does not say so, the first one did."""
    reused = row.get("connection_reused")
    return first if reused is None else not reused


def _message(row: Row, place: int, start_ns: int, next_ns: int | None, clock: DeviceClock) -> list[Part] | None:
    """The set-up of the connection and the message behind it. None if nothing was sent to open it, or if that failed:
    then all of it is the message's.
    """
    asked = row.get("request_start_ns")
    if asked is None:
        return [Part("message", place, start_ns)] if row["outcome"] in {"completed", "sent"} else None
    asked_ns = clock.at(int(asked))
    over_ns = asked_ns if next_ns is None else min(asked_ns, next_ns)
    if not clock.any_between(start_ns, over_ns):
        return None
    return [Part("setup", place, start_ns), Part("message", place, over_ns)]
