"""Outages and their end, by client: time to recovery, and messages lost or late. Pure.

Instants are of the clock of the rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
        "exchange that completed after it: the mean over the outages and clients of a trial. An outage after which "
        "none completed is not in it.",
        pl.col(RECOVERY),
        of="trial",
    ),
    Metric(
        "messages-lost-in-outages",
        "",
        "Messages of a trial that were not completed, and were due during an outage or before the recovery from it, or "
        "under way when it began.",
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
    """What an event did to one client."""

    client: int
    event: Event
    recovered_ns: int | None
    """The end of the first exchange that completed after it; None if there was none before the next event."""
    affected: tuple[Row, ...]
    """Messages under way when it began, or due until the recovery."""
    lost: int
    late: int

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
    """For each client and each event that began before the client's last message ended, in order. An event has what
    came until the next began.
    """
    clients: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        clients[row["client"]].append(row)
    ordered = merged(events)
    for client, mine in sorted(clients.items()):
        last_ns = max(row["end_ns"] for row in mine)
        for place, event in enumerate(ordered):
            if event.start_ns < last_ns:
                until_ns = ordered[place + 1].start_ns if place + 1 < len(ordered) else _FOREVER
                yield _recovery(client, mine, event, until_ns, timeout_ns)


def _recovery(client: int, rows: Sequence[Row], event: Event, until_ns: int, timeout_ns: int) -> Recovery:
    recovered_ns = None
    if event.end_ns is not None:
        ends = (row["end_ns"] for row in rows if row["outcome"] == "completed")
        recovered_ns = min((end for end in ends if event.end_ns <= end < until_ns), default=None)
    met = [row for row in rows if row["end_ns"] >= event.start_ns and _due_ns(row) < until_ns]
    affected = tuple(row for row in met if recovered_ns is None or _due_ns(row) < recovered_ns)
    # What nothing answers may have arrived.
    lost = sum(row["outcome"] not in {"completed", _UNANSWERED} for row in affected)
    late = sum(row["outcome"] == "completed" and row["end_ns"] - _due_ns(row) > timeout_ns for row in met)
    return Recovery(client, event, recovered_ns, affected, lost, late)


def _due_ns(row: Row) -> int:
    """When it was due. A client that does not say so began then."""
    intended = row.get("intended_start_ns")
    return int(row["start_ns"] if intended is None else intended)
