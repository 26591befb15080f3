"""How long a run takes, roughly."""

from __future__ import annotations

from pathlib import Path

from tests.described import BASE, load
from wirelab.plan import expected_ns, make_plan
from wirelab.runner.minutes import ANALYSIS_EXCHANGE_NS, ANALYSIS_NS, ANALYSIS_SCENARIO_NS, START_NS, run_ns
from wirelab.runner.probes import campaign_probes_ns


def test_the_estimated_time_of_a_run_includes_start_probes_trials_and_analysis(tmp_path: Path) -> None:
    plan = make_plan(load(tmp_path, BASE))
    exchanges = 2 * 3 * 10
    analysis = ANALYSIS_NS + 2 * ANALYSIS_SCENARIO_NS + exchanges * ANALYSIS_EXCHANGE_NS
    without = START_NS + expected_ns(plan, 2) + analysis
    assert run_ns(plan, 2, probes=False) == without
    assert run_ns(plan, 2) == without + campaign_probes_ns(plan)
    assert campaign_probes_ns(plan) > 10**9
