"""Scenarios whose clients do not recover from a NAT that forgets them between two messages."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from wirelab.schema import Bursts, Periodic, Persistent, Poisson, PubSub, Stream
from wirelab.schema.timers import silences

if TYPE_CHECKING:
    from wirelab.experiment.experiment import Experiment
    from wirelab.experiment.grid.scenario import Scenario
    from wirelab.schema import ProtocolDescription


def forgotten_for_good(experiment: Experiment) -> dict[str, tuple[int, int]]:
    """By scenario, the NAT's time-out and the longest gap to expect between messages (ns).

    Only where nothing keeps the mapping or ends the connection, and the server needs the one or the other: it knows its
    client by address and port, or sends messages of its own.
    """
    found = {}
    for scenario in experiment.scenarios:
        protocol = experiment.known.protocol(scenario.protocol)
        gap_ns = _gap_ns(scenario)
        if protocol is None or scenario.link.nat is None or gap_ns is None or not _waits_for_good(protocol, scenario):
            continue
        nat, tcp = scenario.link.nat, protocol.transport == "tcp"
        timeout_ns = nat.tcp_established_timeout_ns if tcp else nat.udp_timeout_ns
        if gap_ns > timeout_ns and not _is_kept(protocol, scenario, timeout_ns, gap_ns):
            found[scenario.name] = (timeout_ns, gap_ns)
    return found


def _gap_ns(scenario: Scenario) -> int | None:
    """The largest gap; None if messages follow one another, or connections do."""
    workload = scenario.workload
    gap_ns, arrival = workload.gap_ns, getattr(workload, "arrival", None)
    policy = getattr(workload, "connection", None)
    if isinstance(workload, PubSub) and workload.wait.by != "connected":
        # It opens another connection, at its next contact or where an answer is missing.
        return None
    if gap_ns is None or not (isinstance(workload, PubSub | Stream) or isinstance(policy, Persistent)):
        return None
    # Messages take connections in turn.
    connections = policy.connections if isinstance(policy, Persistent) else 1
    gap_ns *= connections
    if isinstance(arrival, Poisson):
        # Of as many random ones.
        gap_ns *= log(max(workload.rows, 2))
    elif isinstance(arrival, Periodic):
        gap_ns += arrival.jitter_ns
    elif isinstance(arrival, Bursts):
        gap_ns = max(gap_ns, arrival.pause_ns + (connections - 1) * 1e9 / arrival.rate_hz)
    return round(gap_ns)


def _waits_for_good(protocol: ProtocolDescription, scenario: Scenario) -> bool:
    """DTLS knows its client by address and port, and a TCP segment without a mapping is dropped: QUIC has connection
    IDs, and CoAP without security takes every message by itself. A reset ends the connection. A subscriber sends
    nothing, so its messages are dropped over every protocol; QUIC ends such a connection.
    """
    settings = scenario.settings
    if isinstance(scenario.workload, (PubSub, Stream)):
        return not _closes(protocol)
    answered = protocol.unanswered(scenario.workload.kind, settings) is None
    # A client that retries opens another connection after each failed attempt.
    reopens = settings.get("after-timeout") != "keep" or getattr(scenario.workload, "retry", None) is not None
    if (answered and reopens) or settings.get("tcp-user-timeout"):
        return False
    if protocol.transport == "tcp":
        return scenario.link.nat is not None and scenario.link.nat.unmapped_segment == "drop"
    return protocol.secure and not _closes(protocol)


def _closes(protocol: ProtocolDescription) -> bool:
    """Whether its ends close a silent connection, as QUIC's do: the next message then opens another."""
    return any(timer.kind == "closes" for timer in protocol.timing.timers)


def _is_kept(protocol: ProtocolDescription, scenario: Scenario, timeout_ns: int, gap_ns: int) -> bool:
    """Whether something is sent before the mapping ends, or an end asks in time to notice that it has ended. A probe
    without an answer ends no connection in time: messages take the turn of TCP's probes.
    """
    limits_ns = {"probes": timeout_ns, "asks": gap_ns}
    return any(each.length_ns < limits_ns.get(each.kind, 0) for each in silences(protocol, scenario.settings))
