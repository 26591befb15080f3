"""How many trials to run side by side at first, and how far apart to start them; the link's lateness corrects it.

Exchanges mostly wait for their link, so that one CPU carries many. But for what one trial computes, its start above
all, others wait, and what endpoints wait for a CPU is delay that is the machine's. So lanes are as many as leave the
CPUs almost idle, and starts keep a distance.

CPU times are those of the agent and the runner for quickstart's four stacks on one machine (`docs/design/decisions.md`
has the commands): rough, as expected times are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wirelab.experiment.expected_traffic import background_packets_per_s
from wirelab.experiment.library import BUILTIN
from wirelab.schema import Asking, Kept
from wirelab.schema.plan import Scenario
from wirelab.units import format_duration, format_share

LANES_PER_CPU = 8
"""More, and the link is late for its own work however idle the CPUs are."""
CROWDED_LANES = 2
"""Without real-time scheduling and a CPU of its own the link waits for whatever else runs, such as another lane."""
CPU_SHARE = 0.1
"""Of the endpoints' CPUs, what trials may use on average."""
START_SHARE = 0.25
"""Of the endpoints' CPUs, what starting trials may use at any time."""

TRIAL_CPU_NS = 20_000_000
"""To start and end a trial: its processes in namespaces of their own, the host, the runner."""
FRESH_CPU_NS = 2_500_000
"""For an exchange on a connection of its own: both endpoints and the link."""
KEPT_CPU_NS = 600_000
PROGRAM_CPU_NS = 8_000_000
"""For an exchange of a foreign client, which is a process for each."""
BACKGROUND_CPU_NS = 25_000
"""For a packet of background traffic: the processes at its two ends."""


class Lanes(NamedTuple):
    """How many lanes, and why that many."""

    number: int
    why: str


def default_lanes(scenarios: Sequence[Scenario], trials: int, cpus: int, *, real_time: bool) -> Lanes:
    """Lanes for so many trials of these scenarios. Without real-time scheduling the link has a CPU for itself."""
    if cpus == 1 and not real_time:
        return Lanes(min(CROWDED_LANES, trials), "the link shares the only CPU")
    mine = cpus if real_time else cpus - 1
    trial_ns = sum(scenario.expected_trial_ns for scenario in scenarios) / len(scenarios)
    cpu_ns = sum(map(trial_cpu_ns, scenarios)) / len(scenarios)
    affordable = max(1, int(CPU_SHARE * mine * trial_ns / cpu_ns))
    most = LANES_PER_CPU * cpus
    if trials <= min(affordable, most):
        return Lanes(trials, f"the plan has no more than {trials} trial{'s' * (trials != 1)}")
    if most <= affordable:
        return Lanes(most, f"{LANES_PER_CPU} for each of {cpus} CPU{'s' * (cpus != 1)}")
    of = "a CPU" if mine == 1 else f"{mine} CPUs"
    why = (
        f"a trial computes for about {format_duration(cpu_ns)} of its {format_duration(trial_ns)}, and all together "
        f"may use {format_share(CPU_SHARE)} of {of}"
    )
    return Lanes(affordable, why)


def start_gap_ns(cpus: int, *, real_time: bool) -> int:
    """How long after a trial's start the next one may start."""
    mine = cpus if real_time else max(cpus - 1, 1)
    return round(TRIAL_CPU_NS / (START_SHARE * mine))


def trial_cpu_ns(scenario: Scenario) -> int:
    """CPU time that one trial takes."""
    workload, ends = scenario.workload, scenario.implementation
    opens = isinstance(workload, Asking) and not isinstance(workload.connection, Kept)
    exchange_ns = FRESH_CPU_NS if opens else KEPT_CPU_NS
    if ends.client != BUILTIN:
        exchange_ns = PROGRAM_CPU_NS
    background = background_packets_per_s(scenario) * BACKGROUND_CPU_NS / 1e9
    return TRIAL_CPU_NS + exchange_ns * workload.rows + round(background * scenario.expected_trial_ns)
