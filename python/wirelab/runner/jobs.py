"""How many trials to run in parallel at first, and how far apart to start them; the link's timing error corrects it.

Exchanges mostly wait for their link, so one CPU can serve many. But while one trial computes, mainly at its start,
others wait, and waiting for a CPU adds delay that is not the link's. So the number of parallel trials leaves the CPUs
almost idle, and there is a gap between starts.
Trials that run alone (`experiment/duration/trial.py`) do not count here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wirelab.experiment.duration.trial import TRIAL_CPU_NS, runs_alone, trial_cpu_ns
from wirelab.schema.plan import Scenario
from wirelab.units import format_duration, format_share

JOBS_PER_CPU = 8
"""With more, the link falls behind even on idle CPUs."""
CROWDED_JOBS = 2
"""Without real-time scheduling and its own CPU the link waits for other processes, such as another trial's."""
CPU_SHARE = 0.1
"""The share of the endpoints' CPUs that trials may use on average."""
START_SHARE = 0.25
"""The share of the endpoints' CPUs that starting trials may use at any time."""


class Jobs(NamedTuple):
    """How many parallel trials, and why that many."""

    number: int
    why: str


def default_jobs(scenarios: Sequence[Scenario], trials: int, cpus: int, *, real_time: bool) -> Jobs:
    """Parallel trials for these scenarios. Without real-time scheduling the link has a CPU for itself."""
    if cpus == 1 and not real_time:
        return Jobs(min(CROWDED_JOBS, trials), "the link shares the only CPU")
    beside = [scenario for scenario in scenarios if not runs_alone(scenario)]
    if not beside:
        return Jobs(1, "short exchanges, or ones that fill a CPU, would disturb each other")
    mine = cpus if real_time else cpus - 1
    trial_ns = sum(scenario.expected_trial_ns for scenario in beside) / len(beside)
    cpu_ns = sum(map(trial_cpu_ns, beside)) / len(beside)
    affordable = max(1, int(CPU_SHARE * mine * trial_ns / cpu_ns))
    most = JOBS_PER_CPU * cpus
    if trials <= min(affordable, most):
        return Jobs(trials, f"the plan has no more than {trials} trial{'s' * (trials != 1)}")
    if most <= affordable:
        return Jobs(most, f"{JOBS_PER_CPU} for each of {cpus} CPU{'s' * (cpus != 1)}")
    of = "a CPU" if mine == 1 else f"{mine} CPUs"
    why = (
        f"a trial needs about {format_duration(cpu_ns)} CPU time in {format_duration(trial_ns)}, and all together may "
        f"use {format_share(CPU_SHARE)} of {of}"
    )
    return Jobs(affordable, why)


def start_gap_ns(cpus: int, *, real_time: bool) -> int:
    """How long after a trial's start the next one may start."""
    mine = cpus if real_time else max(cpus - 1, 1)
    return round(TRIAL_CPU_NS / (START_SHARE * mine))
