"""How long a run takes, roughly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.described import BASE, load
from wirelab.experiment.duration.guest import guests_wall_ns, records_bytes
from wirelab.plan import expected_ns, make_plan
from wirelab.runner import cpus
from wirelab.runner.minutes import (
    ANALYSIS_EXCHANGE_NS,
    ANALYSIS_NS,
    ANALYSIS_SCENARIO_NS,
    DATASET_BYTE_NS,
    DATASET_ROW_NS,
    START_NS,
    in_days,
    run_ns,
    time_words,
    virtual_run_ns,
    virtual_words,
)
from wirelab.runner.probes import campaign_probes_ns


def test_the_estimated_time_of_a_run_includes_start_probes_trials_and_analysis(tmp_path: Path) -> None:
    plan = make_plan(load(tmp_path, BASE))
    exchanges = 2 * 3 * 10
    analysis = ANALYSIS_NS + 2 * ANALYSIS_SCENARIO_NS + exchanges * ANALYSIS_EXCHANGE_NS
    without = START_NS + expected_ns(plan, 2) + analysis
    assert run_ns(plan, 2, probes=False) == without
    assert run_ns(plan, 2) == without + campaign_probes_ns(plan)
    assert campaign_probes_ns(plan) > 10**9


def test_two_days_and_more_are_said_in_days() -> None:
    hour = 3600 * 10**9
    assert [in_days(each * hour) for each in (1, 47, 48, 720, 100_000)] == ["1 h", "47 h", "2 d", "30 d", "4,167 d"]


def test_a_run_of_days_is_said_in_days_by_the_clock_that_it_takes(tmp_path: Path) -> None:
    day = BASE.replace("[workload]", '[workload]\ninterval = "12 h"')
    live, virtual = (make_plan(load(tmp_path, f'clock = "{clock}"\n{day}')) for clock in ("live", "virtual"))
    assert time_words(live, 1) == f"about {in_days(run_ns(live, 1))}"
    assert time_words(live, 1).endswith(" d")
    assert time_words(virtual, 1) == virtual_words(virtual, 1)


def test_under_the_virtual_clock_guests_take_the_place_of_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(load(tmp_path, BASE))
    exchanges = 2 * 3 * 10
    analysis = ANALYSIS_NS + 2 * ANALYSIS_SCENARIO_NS + exchanges * ANALYSIS_EXCHANGE_NS
    dataset = exchanges * DATASET_ROW_NS + records_bytes(plan) * DATASET_BYTE_NS
    monkeypatch.setattr(cpus, "count", lambda: 2)
    assert virtual_run_ns(plan, 2) == START_NS + guests_wall_ns(plan, 2) + dataset + analysis
    assert virtual_words(plan, 1).endswith(" on 1 idle CPU, 277 kB")


def test_more_guests_than_cpus_take_no_less_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan(load(tmp_path, BASE))
    monkeypatch.setattr(cpus, "count", lambda: 2)
    assert virtual_run_ns(plan, 16) == virtual_run_ns(plan, 2) < virtual_run_ns(plan, 1)
    assert " on 2 idle CPUs, " in virtual_words(plan, 16)
