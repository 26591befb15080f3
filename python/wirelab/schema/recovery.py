"""What outages of a link or of the server did, as `estimates.json` has it (`docs/reference/estimates.md`)."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from wirelab.schema.bounds import Bounds, document


@document
class RecoveryTimes(TypedDict):
    """Times from the end of an outage to the end of the client's first exchange that completed after it."""

    least_s: float
    """The shortest, in s, of the outages with a recovery."""
    median_s: float | None
    """The median, in s, in which an outage without recovery is longer than every other; null if it is one of those."""
    most_s: float | None
    """The longest, in s; null if there was an outage without recovery."""


@document
class RecoveryRecord(TypedDict):
    """Outages of a scenario that messages met, over its trials and clients."""

    what: list[Literal["link", "server"]]
    """What was away."""
    outages: int
    """Number of outages that a message met, each once for each client."""
    not_met: int
    """Number of other outages: no message was under way or due in them, or lost between their end and the recovery."""
    not_recovered: int
    """Of the outages that a message met, those after which the client completed no exchange before the next one."""
    recovery: RecoveryTimes | None
    """Null if there was no recovery."""
    affected: int
    """Messages that were under way when an outage began, or due until the recovery. Each is of the first outage that it
    met.
    """
    lost: int
    """Of these, messages that were not completed, or never reached the subscriber."""
    late: int
    """Messages that completed, or reached the subscriber, more than the time-out after they were due, from the
    beginning of an outage to that of the next.
    """
    attempts: float | None
    """How often an affected message was tried, on average; null if the client does not count it."""
    energy_j: Bounds | None
    """Energy of the affected messages with the time behind them and the connections that they opened, in J for each
    outage; null without a radio.
    """
    forgets: bool
    """Whether the server lost its sessions: it is built in, was restarted, and keeps them in memory."""
