"""A rough estimate of a run's duration: its trials, and the time before and after them."""

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


def run_ns(plan: Plan, jobs: int, *, probes: bool = True) -> int:
    """About how long `wirelab run` takes for a plan with so many parallel trials, up to the plan's maximum."""
    from wirelab.plan import expected_ns
    from wirelab.runner.probes import campaign_probes_ns

    exchanges = sum(scenario.workload.rows for scenario in plan.scenarios) * len(plan.blocks)
    analysis = ANALYSIS_NS + ANALYSIS_SCENARIO_NS * len(plan.scenarios) + ANALYSIS_EXCHANGE_NS * exchanges
    probing = campaign_probes_ns(plan) if probes else 0
    return START_NS + probing + expected_ns(plan, jobs) + analysis
