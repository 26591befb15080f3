"""How many jobs a run begins with, and how far apart its trials start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.asked import load_experiment
from tests.runner.fakes import make_plan
from wirelab.plan import make_plan as plan_of
from wirelab.runner.jobs import Jobs, default_jobs, start_gap_ns
from wirelab.schema.plan import Scenario

MS = 1_000_000


def scenario(trial_ms: int, exchanges: int = 10, **changed: Any) -> Scenario:
    [one] = make_plan(scenarios=1, blocks=1).scenarios
    workload = one.workload.model_copy(update={"exchanges": exchanges, **changed})
    return one.model_copy(update={"workload": workload, "expected_trial_ns": trial_ms * MS})


def jobs(*trial_ms: int, trials: int = 500, cpus: int = 2, real_time: bool = True, exchanges: int = 10) -> int:
    scenarios = [scenario(each, exchanges) for each in trial_ms]
    return default_jobs(scenarios, trials, cpus, real_time=real_time).number


def test_trials_that_wait_for_their_link_run_in_parallel() -> None:
    assert jobs(2_300) == 10
    assert jobs(2_300, cpus=4) == 20


def test_short_trials_with_an_expensive_start_run_fewer_in_parallel() -> None:
    assert jobs(2_300, exchanges=1) > jobs(2_300 // 10, exchanges=1)
    assert jobs(230, exchanges=1) == 2
    assert jobs(30, exchanges=1) == 1


def test_the_jobs_of_a_block_follow_from_all_its_trials() -> None:
    assert jobs(600, 4_000) == jobs(2_300)


def test_there_are_at_most_as_many_jobs_as_trials() -> None:
    assert jobs(40_000, trials=3, cpus=8) == 3


def test_jobs_are_limited_by_what_the_link_can_serve_in_time() -> None:
    assert jobs(400_000) == 16
    assert jobs(400_000, cpus=1) == 8


def test_a_link_on_the_only_cpu_starts_with_few_jobs() -> None:
    assert jobs(400_000, cpus=1, real_time=False) == 2


def test_the_cpu_reserved_for_the_link_is_not_for_endpoints() -> None:
    assert jobs(2_300, real_time=False) == jobs(2_300) // 2
    assert jobs(400_000, real_time=False) == 16


def test_background_traffic_reduces_the_jobs() -> None:
    idle = scenario(10_000)
    busy = idle.model_copy(update={"background_packets_per_s": 1500.0})
    assert default_jobs([busy], 500, 2, real_time=True).number < default_jobs([idle], 500, 2, real_time=True).number


def test_trials_that_run_alone_need_one_job() -> None:
    short = scenario(10_000).model_copy(update={"expected_exchange_ns": 1 * MS})
    assert default_jobs([short], 500, 2, real_time=True) == Jobs(
        1, "short exchanges, or ones that fill a CPU, would disturb each other"
    )
    assert jobs(2_300) == default_jobs([short, scenario(2_300)], 500, 2, real_time=True).number


@dataclass
class Case:
    given: dict[str, Any]
    why: str


@pytest.mark.parametrize(
    "case",
    [
        Case({"trials": 1}, "the plan has no more than 1 trial"),
        Case({"cpus": 1, "real_time": False}, "the link shares the only CPU"),
        Case({"trial_ms": 10**6}, "8 for each of 2 CPUs"),
        Case({}, "a trial needs about 45 ms CPU time in 2.3 s, and all together may use 10 % of 2 CPUs"),
        Case(
            {"real_time": False},
            "a trial needs about 45 ms CPU time in 2.3 s, and all together may use 10 % of a CPU",
        ),
    ],
    ids=lambda case: case.why,
)
def test_the_number_of_jobs_has_its_reason(case: Case) -> None:
    given = {"trial_ms": 2_300, "trials": 500, "cpus": 2, "real_time": True} | case.given
    found = default_jobs([scenario(given.pop("trial_ms"))], given.pop("trials"), given.pop("cpus"), **given)
    assert isinstance(found, Jobs)
    assert found.why == case.why


def test_starts_are_farther_apart_with_fewer_cpus() -> None:
    assert start_gap_ns(2, real_time=True) == 40 * MS
    assert start_gap_ns(2, real_time=False) == start_gap_ns(1, real_time=True) == 80 * MS


def test_shipped_experiments_keep_the_cpus_almost_idle() -> None:
    def of(name: str) -> int:
        plan = plan_of(load_experiment(name))
        return default_jobs(plan.scenarios, plan.trials, 2, real_time=True).number

    assert of("quickstart") < of("milosevic2021") == 16
