"""Into how many shards a plan is divided."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.described import BASE, load
from wirelab.cli import engine
from wirelab.experiment.duration.guest import guests_wall_ns
from wirelab.plan import expected_ns, make_plan
from wirelab.runner.shards import units
from wirelab.schema import Clock

HOURS = BASE.replace("replicates = 3", "replicates = 2000")


@pytest.mark.parametrize("clock", [*Clock])
def test_a_shard_takes_minutes_of_the_machine_and_not_of_the_plans_clock(clock: Clock, tmp_path: Path) -> None:
    plan = make_plan(load(tmp_path, HOURS, "workload.exchanges=500", f"clock={clock.value}"))
    takes_ns = guests_wall_ns(plan, 1) if clock is Clock.VIRTUAL else expected_ns(plan, 1)
    assert engine.shards_of(plan) == pytest.approx(takes_ns / 1e9 / engine.SHARD_S, abs=1)
    assert engine.shards_of(plan) > 10 * len(os.sched_getaffinity(0))


def test_a_short_plan_has_some_shards_for_each_processor_and_no_more_than_its_units(tmp_path: Path) -> None:
    plan = make_plan(load(tmp_path, BASE, "clock=virtual"))
    assert engine.shards_of(plan) == min(len(units(plan)), 2 * len(os.sched_getaffinity(0)))
