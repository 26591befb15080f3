"""What does not happen in a closed loop, where each exchange begins when the one before has ended: the radio stays
awake, a NAT forgets nothing, and no keep-alive is sent. In sentences, for the terminal and the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wirelab.schema.describe import Description, ProtocolDescription
from wirelab.schema.plan import Plan, Scenario
from wirelab.schema.timers import Silence, silences
from wirelab.schema.workload import Closed, Persistent, RequestWorkload
from wirelab.units import format_duration

NAMED = 3
"""So many links or protocols are named."""
HINT = "--set workload.interval=10min --clock virtual"


class BackToBack(NamedTuple):
    """What no scenario of a plan meets after the first exchange of a trial."""

    what: str
    """A sentence without its full stop."""
    hint: str


def back_to_back(plan: Plan) -> BackToBack | None:
    """Of scenarios in a closed loop that have something to miss: a radio that sleeps, a NAT, or a keep-alive that the
    experiment sets.
    """
    closed = [each for each in plan.scenarios if _is_closed(each)]
    missed = [each for each in closed if _misses(each, plan.known)]
    if not missed:
        return None
    some = "" if len(missed) == len(plan.scenarios) else f"in {len(missed)} of {len(plan.scenarios)} scenarios "
    parts = [
        *_listed("no radio falls asleep", (_radio(each) for each in missed)),
        *_listed("no NAT forgets a client", (_nat(each, plan.known) for each in missed)),
        *_listed("no keep-alive is sent", (_keep_alive(each, plan.known) for each in missed)),
    ]
    *first, last = parts
    nothing = f"{', '.join(first)} and {last}" if first else last
    return BackToBack(f"{some}exchanges follow each other: after the first, {nothing}", HINT)


def _is_closed(scenario: Scenario) -> bool:
    workload = scenario.workload
    return isinstance(workload, RequestWorkload) and isinstance(workload.arrival, Closed) and workload.exchanges > 1


def _misses(scenario: Scenario, known: Description) -> bool:
    protocol = known.protocol(scenario.protocol)
    own = (
        []
        if protocol is None
        else [each for each in _keep_alives(scenario, protocol) if _is_set(each, protocol, scenario)]
    )
    return _radio(scenario) is not None or _nat(scenario, known) is not None or bool(own)


def _radio(scenario: Scenario) -> str | None:
    """Sleeps that begin within an exchange are met; the first of the others is named."""
    radio = scenario.link.radio
    later = (
        []
        if radio is None
        else [each.after_ns for each in radio.sleeps if each.after_ns > scenario.expected_exchange_ns]
    )
    return f"{scenario.link_name}: after {format_duration(min(later))}" if later else None


def _nat(scenario: Scenario, known: Description) -> str | None:
    nat, protocol = scenario.link.nat, known.protocol(scenario.protocol)
    if nat is None or protocol is None:
        return None
    timeout_ns = nat.tcp_established_timeout_ns if protocol.transport == "tcp" else nat.udp_timeout_ns
    return f"{scenario.link_name}: after {format_duration(timeout_ns)}, {protocol.transport.upper()}"


def _keep_alive(scenario: Scenario, known: Description) -> str | None:
    protocol = known.protocol(scenario.protocol)
    found = [] if protocol is None else _keep_alives(scenario, protocol)
    first = min(found, key=lambda each: each.length_ns, default=None)
    return None if first is None else f"{scenario.protocol}: after {format_duration(first.length_ns)}"


def _keep_alives(scenario: Scenario, protocol: ProtocolDescription) -> list[Silence]:
    """Those of connections that last, and that are longer than an exchange."""
    if not isinstance(getattr(scenario.workload, "connection", None), Persistent):
        return []
    all_of_it = silences(protocol, scenario.settings)
    sent = (each for each in all_of_it if each.kind in {"probes", "asks"})
    return [each for each in sent if each.length_ns > scenario.expected_exchange_ns]


def _is_set(silence: Silence, protocol: ProtocolDescription, scenario: Scenario) -> bool:
    setting = protocol.setting(silence.name)
    return setting is not None and scenario.settings.get(silence.name, setting.default) != setting.default


def _listed(what: str, named: Iterator[str | None]) -> Sequence[str]:
    """One phrase with what it concerns; empty if that is nothing."""
    names = list(dict.fromkeys(each for each in named if each is not None))
    more = "; …" * (len(names) > NAMED)
    return [f"{what} ({'; '.join(names[:NAMED])}{more})"] if names else []
