"""How many trials to run side by side at first, and how far apart to start them; the link's lateness corrects it.

Exchanges mostly wait for their link, so that one CPU carries many. But for what one trial computes, its start above
all, others wait, and what endpoints wait for a CPU is delay that is the machine's. So lanes are as many as leave the
CPUs almost idle, and starts keep a distance.
What runs alone (`experiment/duration/trial.py`) needs no lanes and does not count here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wirelab.experiment.duration.trial import TRIAL_CPU_NS, runs_alone, trial_cpu_ns
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


class Lanes(NamedTuple):
    """How many lanes, and why that many."""

    number: int
    why: str


def default_lanes(scenarios: Sequence[Scenario], trials: int, cpus: int, *, real_time: bool) -> Lanes:
    """Lanes for so many trials of these scenarios. Without real-time scheduling the link has a CPU for itself."""
    if cpus == 1 and not real_time:
        return Lanes(min(CROWDED_LANES, trials), "the link shares the only CPU")
    beside = [scenario for scenario in scenarios if not runs_alone(scenario)]
    if not beside:
        return Lanes(1, "short exchanges, or ones that fill a CPU, would disturb each other")
    mine = cpus if real_time else cpus - 1
    trial_ns = sum(scenario.expected_trial_ns for scenario in beside) / len(beside)
    cpu_ns = sum(map(trial_cpu_ns, beside)) / len(beside)
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
