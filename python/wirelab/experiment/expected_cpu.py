"""How much a trial computes, and whether others may run beside it.

CPU times are those of the agent and the runner for quickstart's four stacks, and of elmangoush2017's transfers of
11 MB, on one machine (`docs/design/decisions.md` has the commands): rough, as expected times are.
"""

from __future__ import annotations

from wirelab.experiment.expected import CONNECTIONS_TO_A_HOST, ONE_AT_A_TIME
from wirelab.experiment.expected_traffic import background_packets_per_s
from wirelab.experiment.library import BUILTIN
from wirelab.schema import Asking, Kept, PageLoads
from wirelab.schema.plan import Scenario

TRIAL_CPU_NS = 20_000_000
"""To start and end a trial: its processes in namespaces of their own, the host, the runner."""
FRESH_CPU_NS = 2_500_000
"""For an exchange on a connection of its own: both endpoints and the link."""
KEPT_CPU_NS = 600_000
PROGRAM_CPU_NS = 8_000_000
"""For an exchange of a foreign client, which is a process for each."""
BYTE_CPU_NS = 60
"""For a byte of a body, at both endpoints."""
BACKGROUND_CPU_NS = 25_000
"""For a packet of background traffic: the processes at its two ends."""

BUSY_SHARE = 0.5
"""Of a CPU. What computes for more of its time leaves too little for others, and is slowed by them."""
SHORT_NS = 10_000_000
"""Of so short an exchange, what it waits for a CPU is a telling part."""


def trial_cpu_ns(scenario: Scenario) -> int:
    """CPU time that one trial takes."""
    workload, ends = scenario.workload, scenario.implementation
    background = round(background_packets_per_s(scenario) * BACKGROUND_CPU_NS / 1e9 * scenario.expected_trial_ns)
    if isinstance(workload, PageLoads):
        return TRIAL_CPU_NS + _load_cpu_ns(scenario, workload) * workload.loads + background
    opens = isinstance(workload, Asking) and not isinstance(workload.connection, Kept)
    exchange_ns = FRESH_CPU_NS if opens else KEPT_CPU_NS
    if ends.client != BUILTIN:
        exchange_ns = PROGRAM_CPU_NS
    if isinstance(workload, Asking):
        sizes = workload.downloads
        exchange_ns += BYTE_CPU_NS * (workload.upload_bytes + sum(sizes) // len(sizes))
    return TRIAL_CPU_NS + exchange_ns * workload.rows + background


def _load_cpu_ns(scenario: Scenario, workload: PageLoads) -> int:
    """Connections with a resource each, the other resources, and their bytes."""
    resources = workload.page.resources
    connections = min(resources, CONNECTIONS_TO_A_HOST) if scenario.stack in ONE_AT_A_TIME else 1
    requests = FRESH_CPU_NS * connections + KEPT_CPU_NS * (resources - connections)
    if scenario.implementation.client != BUILTIN:
        requests = PROGRAM_CPU_NS * resources
    return requests + BYTE_CPU_NS * workload.page.body_bytes


def runs_alone(scenario: Scenario) -> bool:
    """Whether the scenario's trials have the machine to themselves: its exchanges are short, or fill a CPU."""
    busy = trial_cpu_ns(scenario) > BUSY_SHARE * scenario.expected_trial_ns
    return busy or scenario.expected_exchange_ns < SHORT_NS
