"""How long the endpoints of a workload send."""

from __future__ import annotations

from wirelab.schema import IdleStart, PubSubWorkload, RequestWorkload, WorkloadSpec
from wirelab.schema.workload import OpenLoop


def sends_for_ns(workload: WorkloadSpec) -> int | None:
    """From a client's first message to the end of the last one's gap, on average, and of idle starts on the link's
    clock. None if messages follow one another.
    """
    if isinstance(workload, PubSubWorkload):
        return round(workload.published.span_ns(workload.messages))
    if not isinstance(workload, RequestWorkload):
        return None
    arrival = workload.arrival
    if isinstance(arrival, IdleStart):
        return arrival.interval_ns * workload.exchanges
    return round(arrival.span_ns(workload.exchanges)) if isinstance(arrival, OpenLoop) else None
