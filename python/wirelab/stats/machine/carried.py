"""How many messages persistent connections carry at a time, and the setting that raises it if that is too few."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from wirelab.schema import Description
from wirelab.schema.describe import IntegerValues, ProtocolDescription
from wirelab.schema.plan import Scenario
from wirelab.schema.workload import Persistent, RequestWorkload

HEADROOM = 0.95
"""A fix is proposed with which no more than this share of what it serves is offered."""
NSTART = "nstart"
"""CoAP's limit of open exchanges with one server (RFC 7252, section 4.7)."""


class Carried(NamedTuple):
    """How many messages connections carry at a time, and what to do where that is too few."""

    messages: int
    enough: int
    """So many that what is offered is served."""
    cure: str


def carried(known: Description, scenario: Scenario, over: float) -> Carried | None:
    """Of persistent connections whose protocol has an exchange end before the next, or limits how many are open.
    `over` is how many times what is served is offered.
    """
    workload, protocol = scenario.workload, known.protocol(scenario.protocol)
    if not isinstance(workload, RequestWorkload) or not isinstance(workload.connection, Persistent) or protocol is None:
        return None
    connections = workload.connection.connections
    if protocol.timing.sequential:
        needed = enough(connections, over)
        return Carried(connections, needed, _more_connections(needed))
    if (open_at_once := scenario.settings.get(NSTART)) is None:
        return None
    now = int(open_at_once)
    needed, most = enough(now, over), _maximum(protocol)
    if most is None or needed <= most:
        return Carried(connections * now, connections * needed, f"raise {_path(scenario)} to {needed}")
    raised = f"raise {_path(scenario)} to {most}, its maximum" if now < most else f"{_path(scenario)} is at its maximum"
    wider = ceil(connections * needed / most)
    cure = f"{raised}, which is not enough ({needed:,} are needed); {_more_connections(wider)}"
    return Carried(connections * now, wider * most, cure)


def enough(now: int, over: float) -> int:
    """How many are needed to serve what is offered, if each serves as much as one of those that there are now."""
    return ceil(now * over / HEADROOM)


def _more_connections(number: int) -> str:
    return f"more connections: workload.connection = {{ persistent = {number} }}"


def _path(scenario: Scenario) -> str:
    return f"protocols.{scenario.protocol}.{NSTART}"


def _maximum(protocol: ProtocolDescription) -> int | None:
    setting = protocol.setting(NSTART)
    return setting.values.maximum if setting is not None and isinstance(setting.values, IntegerValues) else None
