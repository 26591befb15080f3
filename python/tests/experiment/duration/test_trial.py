"""How much trials compute, and which have the machine to themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.asked import load_experiment
from tests.runner.fakes import make_plan
from wirelab.experiment.duration.trial import runs_alone, trial_cpu_ns
from wirelab.plan import make_plan as plan_of
from wirelab.schema.plan import Implementations, Scenario
from wirelab.schema.workload import Persistent

MS = 1_000_000


def scenario(trial_ms: int, **changed: Any) -> Scenario:
    """Of ten exchanges, each a tenth of the trial."""
    [one] = make_plan(scenarios=1, blocks=1).scenarios
    workload = one.workload.model_copy(update={"exchanges": 10, **changed})
    times = {"expected_trial_ns": trial_ms * MS, "expected_exchange_ns": trial_ms * MS // 10}
    return one.model_copy(update={"workload": workload, **times})


def test_persistent_connections_need_less_cpu_and_a_process_per_exchange_more() -> None:
    fresh = scenario(1_000)
    kept = scenario(1_000, connection=Persistent(connections=1))
    curl = fresh.model_copy(update={"implementation": Implementations(client="curl", server="builtin")})
    assert trial_cpu_ns(kept) < trial_cpu_ns(fresh) < trial_cpu_ns(curl)


def test_background_traffic_computes_as_long_as_the_trial_lasts() -> None:
    idle = scenario(10_000)
    busy = idle.model_copy(update={"background_packets_per_s": 1500.0})
    longer = busy.model_copy(update={"expected_trial_ns": 20_000 * MS})
    assert trial_cpu_ns(longer) - trial_cpu_ns(idle) == 2 * (trial_cpu_ns(busy) - trial_cpu_ns(idle)) > 0


def test_a_trial_of_short_exchanges_or_one_that_fills_a_cpu_runs_alone() -> None:
    assert not runs_alone(scenario(1_000))
    assert runs_alone(scenario(90))
    assert runs_alone(scenario(1_000, download_bytes=11_000_000))
    assert not runs_alone(scenario(100_000, download_bytes=(11_000_000, 612)))


MONTH = """
title = "A month"
[factors]
protocol = ["coap"]
[link]
rtt = "200 ms"
[workload]
kind = "telemetry"
message = "64 B"
exchanges = 4320
interval = "10 min"
"""


@pytest.mark.parametrize(
    ("sets", "days"),
    [
        ((), 30),
        (("workload.arrival=poisson",), 30),
        (("workload.clients=5",), 30),
        # 20 an hour.
        (("workload.interval=1h", "workload.arrival={ burst = '2 /s', for = '10 s' }"), 9),
        (
            ("workload.interval=1h", "workload.exchanges=21", "workload.arrival={ burst = '2 /s', for = '10 s' }"),
            1 / 12,
        ),
    ],
)
def test_a_months_messages_take_a_month(tmp_path: Path, sets: tuple[str, ...], days: float) -> None:
    file = tmp_path / "month.toml"
    file.write_text(MONTH)
    [scenario] = plan_of(load_experiment(str(file), sets)).scenarios
    assert scenario.expected_trial_ns == pytest.approx(days * 86_400e9, abs=2e9)


def test_an_idle_start_takes_two_seconds_of_each_gap(tmp_path: Path) -> None:
    file = tmp_path / "month.toml"
    file.write_text(MONTH)
    # And 200 ms of each message.
    for interval, seconds in (("10min", 2.2 * 4320), ("1s", 1.2 * 4320)):
        sets = ("workload.arrival=idle-start", f"workload.interval={interval}")
        [scenario] = plan_of(load_experiment(str(file), sets)).scenarios
        assert scenario.expected_trial_ns == pytest.approx(seconds * 1e9, rel=0.01), interval


def test_in_elmangoush2017_only_the_perfect_channel_runs_alone() -> None:
    plan = plan_of(load_experiment("elmangoush2017"))
    assert {scenario.link_name for scenario in plan.scenarios if runs_alone(scenario)} == {"perfect"}
    assert sum(map(runs_alone, plan.scenarios)) == 12


def test_in_quickstart_and_milosevic2021_no_trial_runs_alone() -> None:
    for name in ("quickstart", "milosevic2021"):
        assert not any(map(runs_alone, plan_of(load_experiment(name)).scenarios))


def test_a_browser_runs_alone_and_other_programs_of_its_campaign_do_not() -> None:
    plan = plan_of(load_experiment("fischer2021-choices"))
    alone = {runs_alone(each) for each in plan.scenarios if each.implementation.client == "chromium"}
    assert alone == {True}
    assert not all(map(runs_alone, plan.scenarios))
    assert "client_cpu_ns" not in next(each for each in plan.scenarios if not each.client_cpu_ns).model_dump()
