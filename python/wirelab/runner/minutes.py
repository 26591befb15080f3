"""A rough estimate of a run's duration: its trials, and the time before and after them. Under the virtual clock, of the
trials' own time, of this machine's, and of the disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirelab.schema.plan import Plan

START_NS = 3 * 10**9
"""Start of Python, of the host and of its namespaces."""
ANALYSIS_NS = 4 * 10**9
"""Analysis and report of the smallest dataset: mostly the import of libraries."""
ANALYSIS_SCENARIO_NS = 2 * 10**8
ANALYSIS_EXCHANGE_NS = 150_000
"""Resampling; CPU time of two processors of a virtual machine, as the others."""
DATASET_ROW_NS = 700_000
"""Measuring a message, with its energy; in real time the trial takes far longer."""
DATASET_BYTE_NS = 750
"""Measuring a byte of the records, nearly all of them packets."""

DAY_NS = 24 * 3600 * 10**9


def run_ns(plan: Plan, jobs: int, *, probes: bool = True) -> int:
    """About how long `wirelab run` takes for a plan with so many parallel trials, up to the plan's maximum."""
    from wirelab.plan import expected_ns
    from wirelab.runner.probes import campaign_probes_ns

    probing = campaign_probes_ns(plan) if probes else 0
    return START_NS + probing + expected_ns(plan, jobs) + _analysis_ns(plan)


def virtual_run_ns(plan: Plan, jobs: int) -> int:
    """About how long `wirelab run --clock virtual` takes of this machine's time, with so many guests at a time."""
    from wirelab.experiment.duration.guest import guests_wall_ns, own_bytes

    own = len(plan.blocks) * sum(own_bytes(scenario, plan.known) for scenario in plan.scenarios)
    dataset_ns = DATASET_ROW_NS * _rows(plan) + DATASET_BYTE_NS * own
    return START_NS + guests_wall_ns(plan, _used(jobs)) + dataset_ns + _analysis_ns(plan)


def time_words(plan: Plan, jobs: int, *, probes: bool = True) -> str:
    """About how long a run takes with so many trials at a time: `about 3 min`, or by both clocks if one is virtual."""
    from wirelab.schema import Clock

    if plan.clock is Clock.VIRTUAL:
        return virtual_words(plan, jobs)
    return f"about {in_days(run_ns(plan, jobs, probes=probes))}"


def virtual_words(plan: Plan, jobs: int) -> str:
    """The time of all trials by their own clocks, and what they take here: `virtual time 60 d, about 7 min of yours on
    2 idle CPUs, 0.3 GB`.
    """
    from wirelab.experiment.duration.guest import records_bytes
    from wirelab.plan import expected_ns
    from wirelab.units import format_size

    took, used = in_days(virtual_run_ns(plan, jobs)), _used(jobs)
    idle, size = f"{used} idle CPU{'s' * (used != 1)}", format_size(records_bytes(plan))
    return f"virtual time {in_days(expected_ns(plan, 1))}, about {took} of yours on {idle}, {size}"


def in_days(time_ns: int) -> str:
    """A duration, of two days or more in days."""
    from wirelab.units import format_duration

    days = time_ns / DAY_NS
    return format_duration(time_ns) if days < 2 else f"{days:.3g} d" if days < 100 else f"{days:,.0f} d"


def _analysis_ns(plan: Plan) -> int:
    return ANALYSIS_NS + ANALYSIS_SCENARIO_NS * len(plan.scenarios) + ANALYSIS_EXCHANGE_NS * _rows(plan)


def _rows(plan: Plan) -> int:
    return sum(scenario.workload.rows for scenario in plan.scenarios) * len(plan.blocks)


def _used(jobs: int) -> int:
    """CPUs that so many guests compute on at a time."""
    from wirelab.runner import cpus

    return min(jobs, cpus.count())
