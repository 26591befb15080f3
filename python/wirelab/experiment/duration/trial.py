"""How long a trial takes, how much it computes, and whether others may run at the same time.

CPU times are those of the agent and the runner for quickstart's four protocols, and of elmangoush2017's transfers of
11 MB, on one machine (`docs/design/decisions.md` has the commands): rough, as expected times are.
"""

from __future__ import annotations

from typing import Protocol

from wirelab.experiment.duration.exchange import CONNECTIONS_TO_A_HOST
from wirelab.experiment.library import BUILTIN
from wirelab.schema import (
    Closed,
    IdleStart,
    PageLoads,
    Persistent,
    PubSub,
    RequestWorkload,
    Stream,
    WorkloadSpec,
    registered,
)
from wirelab.schema.plan import Scenario
from wirelab.schema.topology import Traffic, stagger_ns

TRIAL_OVERHEAD_NS = 3 * 10**8
"""Starting and ending the endpoints of a trial."""

TRIAL_CPU_NS = 20_000_000
"""To start and end a trial: its processes in namespaces of their own, the host, the runner."""
FRESH_CPU_NS = 2_500_000
"""For an exchange on a connection of its own: both endpoints and the link."""
KEPT_CPU_NS = 600_000
PROGRAM_CPU_NS = 8_000_000
"""For an exchange of a third-party client, which is a process for each."""
BYTE_CPU_NS = 60
"""For a byte of a body, at both endpoints."""
BACKGROUND_CPU_NS = 25_000
"""For a packet of background traffic: the processes at its two ends."""

BUSY_SHARE = 0.5
"""Of a CPU. What computes for more of its time leaves too little for others, and is slowed by them."""
SHORT_NS = 10_000_000
"""In an exchange as short as this, CPU waiting is a significant part."""


class Asked(Protocol):
    """A scenario, of the experiment or of a plan."""

    @property
    def protocol(self) -> str: ...
    @property
    def workload(self) -> WorkloadSpec: ...
    @property
    def traffic(self) -> tuple[Traffic, ...]: ...


def expected_trial_ns(exchange_ns: int, scenario: Asked) -> int:
    """Time that one trial of exchanges this long takes, with that until background traffic is there."""
    return TRIAL_OVERHEAD_NS + stagger_ns(scenario.traffic) + _exchanges_ns(exchange_ns, scenario)


def _exchanges_ns(exchange_ns: int, scenario: Asked) -> int:
    workload = scenario.workload
    if isinstance(workload, PubSub | Stream):
        return round(workload.published.span_ns(workload.messages)) + exchange_ns
    if isinstance(workload, PageLoads):
        return exchange_ns * workload.loads
    start_ns = 0
    if (device := workload.device) is not None:
        start_ns = device.start_phase_ns
        exchange_ns += device.message_ns
        if not isinstance(workload.connection, Persistent):
            exchange_ns += device.handshake_ns
    places = min(workload.concurrency, workload.exchanges)
    if isinstance(workload.connection, Persistent) and _is_sequential(scenario.protocol):
        places = min(places, workload.connection.connections)
    one_after_another = exchange_ns * workload.exchanges // places
    if isinstance(workload.arrival, Closed):
        return start_ns + one_after_another
    if isinstance(workload.arrival, IdleStart):
        return start_ns + one_after_another + workload.exchanges * workload.arrival.rest_ns
    span_ns = round(workload.arrival.span_ns(workload.exchanges))
    return start_ns + max(span_ns + exchange_ns, one_after_another)


def _is_sequential(protocol: str) -> bool:
    """Whether its connections carry one exchange at a time; False of a protocol of the user's own."""
    described = registered().protocol(protocol)
    return described is not None and described.timing.sequential


def trial_cpu_ns(scenario: Scenario) -> int:
    """CPU time that one trial takes."""
    workload, ends = scenario.workload, scenario.implementation
    background = round(scenario.background_packets_per_s * BACKGROUND_CPU_NS / 1e9 * scenario.expected_trial_ns)
    if isinstance(workload, PageLoads):
        loads = _load_cpu_ns(scenario, workload) * workload.loads
        return TRIAL_CPU_NS + max(loads, scenario.client_cpu_ns) + background
    opens = isinstance(workload, RequestWorkload) and not isinstance(workload.connection, Persistent)
    exchange_ns = FRESH_CPU_NS if opens else KEPT_CPU_NS
    if ends.client != BUILTIN:
        exchange_ns = PROGRAM_CPU_NS
    if isinstance(workload, RequestWorkload):
        sizes = workload.downloads
        exchange_ns += BYTE_CPU_NS * (workload.upload_bytes + sum(sizes) // len(sizes))
    return TRIAL_CPU_NS + exchange_ns * workload.rows + _contacts_cpu_ns(workload) + background


def contacts(workload: WorkloadSpec) -> tuple[int, int]:
    """Connections and requests of subscribers that come at intervals, with news or without."""
    if not isinstance(workload, PubSub) or not workload.wait.every_ns:
        return 0, 0
    times = round(workload.published.span_ns(workload.messages)) // workload.wait.every_ns * workload.subscribers
    return (times, 0) if workload.wait.by == "check-in" else (0, times)


def _contacts_cpu_ns(workload: WorkloadSpec) -> int:
    opened, requests = contacts(workload)
    return opened * FRESH_CPU_NS + requests * KEPT_CPU_NS


def _load_cpu_ns(scenario: Scenario, workload: PageLoads) -> int:
    """Connections with a resource each, the other resources, and their bytes."""
    resources = workload.page.resources
    connections = min(resources, CONNECTIONS_TO_A_HOST) if _is_sequential(scenario.protocol) else 1
    requests = FRESH_CPU_NS * connections + KEPT_CPU_NS * (resources - connections)
    if scenario.implementation.client != BUILTIN:
        requests = PROGRAM_CPU_NS * resources
    return requests + BYTE_CPU_NS * workload.page.body_bytes


def runs_alone(scenario: Scenario) -> bool:
    """Whether the scenario's trials have the machine to themselves: its exchanges are short, or fill a CPU."""
    busy = trial_cpu_ns(scenario) > BUSY_SHARE * scenario.expected_trial_ns
    return busy or scenario.expected_exchange_ns < SHORT_NS
