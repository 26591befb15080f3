"""Why a scenario has no value of a metric: because of its client's program, its protocol or its link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wirelab.metrics.page import PAGE
from wirelab.report.model import Scenario, is_delay
from wirelab.report.protocols import BUILTIN, describe
from wirelab.schema import is_netem
from wirelab.schema.estimates import Outcomes
from wirelab.stats.machine.offered import OVERLOADED

NOT_IN_FORCE = "a setting was not in force; section Emulation accuracy names it"
NOTHING_ANSWERS = "its messages are sent and nothing answers them"
NO_TRIAL = "no trial of this scenario was analysed"
FROM_PACKETS = frozenset(
    {
        "wire-up-bytes",
        "wire-down-bytes",
        "wire-bytes",
        "wire-up-packets",
        "wire-down-packets",
        "round-trips",
        "lost-packets",
    }
)
"""Counted from the packet log, where a client's port leads from an exchange to its packets."""
AGAIN = frozenset({"retransmissions", "spurious-retransmissions"})
DROPS = frozenset({"lost-packets", "spurious-retransmissions"})
STAMPED = {
    "phase-name-lookup": "when a name was looked up",
    "phase-connect": "when its connection was there",
    "phase-handshake": "when its handshake was over",
    "phase-wait": "when a response began",
    "phase-transfer": "when a response began",
    "response-time-largest": "when a response began",
    "response-time-smallest": "when a response began",
}
"""Metrics that end at an instant that the client's program must report."""


def why_missing(scenario: Scenario, metric: str, default: str = "not counted for this protocol") -> str:
    """Why there is no value; `default` where nothing known explains it."""
    counts = scenario.outcomes
    if scenario.estimates is None or (counts is not None and not _analysed(counts)):
        return NO_TRIAL
    return next(_reasons(scenario, metric), default)


def _analysed(counts: Outcomes) -> int:
    """The number of its trials that are done."""
    return counts["trials"] - counts["failed_trials"] - counts["unsupported_trials"]


def why_not_compared(scenario: Scenario) -> str:
    """Why it is not shown next to others, or its delays are not."""
    return OVERLOADED if scenario.plotted else NOT_IN_FORCE


def not_drawn(left_out: Iterable[tuple[Scenario, str]]) -> str:
    """The protocols that a chart leaves out, each once with the reason; empty if there are none."""
    whose: dict[str, list[str]] = {}
    for scenario, why in left_out:
        labels = whose.setdefault(why, [])
        if scenario.series.label not in labels:
            labels.append(scenario.series.label)
    words = "; ".join(f"{', '.join(labels)} ({why})" for why, labels in whose.items())
    return f"Not drawn: {words}." if words else ""


def _reasons(scenario: Scenario, metric: str) -> Iterator[str]:
    """The most general reason first."""
    if scenario.overload is not None and is_delay(metric):
        yield OVERLOADED
    client = scenario.plan.implementation.client
    described = describe(scenario.series.protocol)
    over_udp, secure = (described.transport == "udp", described.secure) if described else (False, False)
    is_timed = metric not in FROM_PACKETS | AGAIN | DROPS
    if scenario.outcomes is not None and not scenario.outcomes["completed"] and not scenario.outcomes["sent"]:
        yield "no exchange completed"
    if is_timed and scenario.outcomes is not None and scenario.outcomes["sent"]:
        yield NOTHING_ANSWERS
    if metric in DROPS and is_netem(scenario.plan.link):
        yield "netem keeps no log of what it drops"
    if metric == "round-trips" and is_netem(scenario.plan.link):
        yield "netem keeps no log of when packets arrive"
    if metric == "round-trips" and scenario.plan.workload.kind == PAGE:
        yield "a load may open several connections"
    if metric == "spurious-retransmissions" and over_udp and secure:
        yield "QUIC and DTLS give each packet a new number, so retransmissions do not show"
    if metric == "phase-connect" and over_udp:
        yield "over UDP there is no TCP connect"
    if metric == "phase-handshake" and described and not secure:
        yield "unencrypted: there is no handshake of TLS or QUIC"
    if client != BUILTIN:
        yield from _not_reported(scenario, metric, client, over_udp=over_udp)
    elif metric == "phase-name-lookup":
        yield "builtin clients are given an address"


def _not_reported(scenario: Scenario, metric: str, client: str, *, over_udp: bool) -> Iterator[str]:
    """What a third-party client does not report."""
    if metric == "retransmissions" and over_udp:
        yield f"{client} does not report what it retransmitted"
    if metric in FROM_PACKETS | AGAIN and not scenario.metric("wire-up-bytes"):
        yield f"{client} does not report which port an exchange used, so packets cannot be assigned to exchanges"
    if metric in STAMPED and scenario.outcomes is not None and scenario.outcomes["completed"]:
        yield f"{client} does not report {STAMPED[metric]}"
