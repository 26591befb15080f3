"""Outages and their end, by client: time to recovery, and messages lost or late. Pure.

Instants are of the clock of the rows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Literal

import polars as pl

from wirelab.metrics.base import Metric

Row = Mapping[str, Any]
"""An exchange of `exchanges.parquet`."""
Kind = Literal["link", "server"]
_FOREVER = 2**63 - 1
_UNANSWERED = "sent"
RECOVERY, LOST, LATE = "recovery_time_ns", "messages_lost_in_outages", "messages_late_after_outages"
"""Columns of `trials.parquet`."""

METRICS = (
    Metric(
        "recovery-time",
        "ns",
        "From the end of an outage of a link, or from when a restarted server was ready, to the end of the first "
        "exchange that completed after it: the mean over the outages and clients of a trial. Null after an outage "
        "without recovery. Without a message that waits, it includes the time until the next message is due. Outages "
        "that no message met are not in it.",
        pl.col(RECOVERY),
        of="trial",
    ),
    Metric(
        "messages-lost-in-outages",
        "",
        "Messages of a trial that were not completed, and were due during an outage or before the recovery from it, or "
        "under way when it began. Each counts once.",
        pl.col(LOST),
        of="trial",
    ),
    Metric(
        "messages-late-after-outages",
        "",
        "Messages of a trial that completed later than a time-out after they were due, and were due after the "
        "beginning of an outage, or under way then.",
        pl.col(LATE),
        of="trial",
    ),
)
"""Null in a trial without an outage."""


@dataclass(frozen=True)
class Event:
    """An outage. Of a server that was not ready again there is no end."""

    kind: Kind
    start_ns: int
    end_ns: int | None


@dataclass(frozen=True)
class Recovery:
    """What an event did to one client. Each message is of one event: the first that it met."""

    client: int
    event: Event
    recovered_ns: int | None = None
    """The end of the first exchange that completed after it; None if there was none before the next event that a
    message met, and if no message met this one.
    """
    met: bool = False
    """Whether a message was under way or due in it, or was lost between its end and the recovery."""
    affected: tuple[Row, ...] = ()
    """Messages under way when it began, or due until the recovery; none if no message met it."""
    lost: int = 0
    late: int = 0

    @property
    def recovery_ns(self) -> int | None:
        """From the end of the outage."""
        if self.recovered_ns is None or self.event.end_ns is None:
            return None
        return self.recovered_ns - self.event.end_ns


def merged(events: Iterable[Event]) -> list[Event]:
    """The same in order, with one event for those that overlap, of the kind that began first."""
    found: list[Event] = []
    for event in sorted(events, key=lambda each: each.start_ns):
        last = found[-1] if found else None
        if last is None or (last.end_ns is not None and last.end_ns < event.start_ns):
            found.append(event)
        else:
            ends = (last.end_ns, event.end_ns)
            end_ns = None if None in ends else max(each for each in ends if each is not None)
            found[-1] = Event(last.kind, last.start_ns, end_ns)
    return found


def recoveries(rows: Iterable[Row], events: Iterable[Event], timeout_ns: int) -> Iterator[Recovery]:
    """For each client and each event that began before the client's last message ended, in order."""
    clients: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        clients[row["client"]].append(row)
    ordered = merged(events)
    for client, mine in sorted(clients.items()):
        yield from _of_client(client, sorted(mine, key=_due_ns), ordered, timeout_ns)


def _of_client(client: int, rows: Sequence[Row], events: Sequence[Event], timeout_ns: int) -> list[Recovery]:
    """`rows` by when they were due. An event has what came until the next one that a message met."""
    dues = [_due_ns(row) for row in rows]
    latest = list(accumulate((row["end_ns"] for row in rows), max))
    ends = sorted(row["end_ns"] for row in rows if row["outcome"] == "completed")
    events = events[: bisect_left([event.start_ns for event in events], latest[-1])]
    inside = [_has_messages(event, dues, latest) for event in events]
    starts = [event.start_ns for event, has in zip(events, inside, strict=True) if has]
    found: list[Recovery] = []
    given = 0
    for event, has in zip(events, inside, strict=True):
        after = bisect_right(starts, event.start_ns)
        until_ns = starts[after] if after < len(starts) else _FOREVER
        recovered_ns = _first_end_ns(event, ends, until_ns)
        # Of those before `given`, each has an event or ended before this one began.
        while given < len(rows) and rows[given]["end_ns"] < event.start_ns:
            given += 1
        place = max(given, bisect_left(dues, until_ns if recovered_ns is None else recovered_ns))
        affected = tuple(row for row in rows[given:place] if row["end_ns"] >= event.start_ns)
        lost = sum(map(_is_lost, affected))
        if has or lost:
            late = sum(_is_late(row, timeout_ns) for row in affected)
            found.append(Recovery(client, event, recovered_ns, True, affected, lost, late))
            given = place
        else:
            found.append(Recovery(client, event))
    return _with_later(found, rows, timeout_ns)


def _with_later(found: Sequence[Recovery], rows: Iterable[Row], timeout_ns: int) -> list[Recovery]:
    """With the late messages that no event affected, which were due after a recovery: each is of the last event that a
    message met.
    """
    counted = {id(row) for each in found for row in each.affected}
    places = [place for place, each in enumerate(found) if each.met]
    starts = [found[place].event.start_ns for place in places]
    more = [0] * len(found)
    for row in rows:
        if id(row) not in counted and _is_late(row, timeout_ns) and (after := bisect_right(starts, _due_ns(row))):
            more[places[after - 1]] += 1
    return [replace(each, late=each.late + later) for each, later in zip(found, more, strict=True)]


def _has_messages(event: Event, dues: Sequence[int], latest: Sequence[int]) -> bool:
    """Whether a message was under way or due in it. `latest` is the running maximum of ends."""
    before = len(dues) if event.end_ns is None else bisect_left(dues, event.end_ns)
    return before > 0 and latest[before - 1] >= event.start_ns


def _first_end_ns(event: Event, ends: Sequence[int], until_ns: int) -> int | None:
    """Of the completed exchanges, after the event."""
    if event.end_ns is None:
        return None
    place = bisect_left(ends, event.end_ns)
    return ends[place] if place < len(ends) and ends[place] < until_ns else None


def _is_lost(row: Row) -> bool:
    """What nothing answers may have arrived, and a subscriber says what did."""
    copies = row.get("copies")
    if copies is not None:
        return bool(copies == 0)
    return row["outcome"] not in {"completed", _UNANSWERED}


def _is_late(row: Row, timeout_ns: int) -> bool:
    if row["outcome"] == "completed":
        return bool(row["end_ns"] - _due_ns(row) > timeout_ns)
    return row["outcome"] == "timed-out" and bool(row.get("copies"))


def _due_ns(row: Row) -> int:
    """When it was due. A client that does not say so began then."""
    intended = row.get("intended_start_ns")
    return int(row["start_ns"] if intended is None else intended)
