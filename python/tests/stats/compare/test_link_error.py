"""A difference that the link could have made is flagged where it is claimed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.documents import whole_link, whole_plan
from tests.synthetic import write_campaign
from wirelab.metrics.link import mean_lateness_ns
from wirelab.schema import LatenessHistogram
from wirelab.schema.estimates import Family
from wirelab.stats.compare.link_error import comparison_record, link_rows, round_trip_errors
from wirelab.stats.compare.scenarios import Without
from wirelab.stats.dataset import Dataset
from wirelab.stats.estimate.model import Comparison, Estimate
from wirelab.stats.machine.endpoint_waits import Wait

GOOD = {"link_name": "clean", "direction": "uplink", "flag": "good", "why": "delay and loss are as configured"}


def compared(
    shift_s: float,
    error_s: float | None,
    row: dict[str, Any] = GOOD,
    waits: dict[str, Wait] | None = None,
    metric: str = "end-to-end-delay",
) -> Any:
    shift = Estimate(shift_s, shift_s - 1e-4, shift_s + 1e-4, 0.95, 9, "made up")
    other = Estimate(1.0, None, None, 0.95, 9, "made up")
    family: Family = {"name": "all", "size": 1, "method": "none", "error_rate": 0.05}
    comparison = Comparison(metric, "one", "two", other, other, shift, other, 0.5, 0.5, family)
    errors = {} if error_s is None else {"one": error_s / 2, "two": error_s}
    rows: Any = {"one": [whole_link(row)], "two": [whole_link(row)]}
    return comparison_record(comparison, errors, rows, waits or {})["link"]


@pytest.mark.parametrize(
    ("shift_s", "error_s", "flag"),
    [
        (0.020, 0.001, "good"), (-0.020, 0.001, "good"), (0.009, 0.001, "limited"),
        (-0.009, 0.001, "limited"), (0.0009, 0.001, "unusable"), (0.00005, 0.001, "good"),
    ],
)  # fmt: skip
def test_an_effect_below_ten_times_the_links_error_is_flagged(shift_s: float, error_s: float, flag: str) -> None:
    found = compared(shift_s, error_s)
    assert (found["flag"], found["error_s"]) == (flag, error_s)


def test_the_reason_names_effect_and_error() -> None:
    assert compared(0.009, 0.001)["why"] == (
        "the difference of 9 ms is less than 10 times the link's mean error of 1 ms a round trip"
    )


def test_a_comparisons_quality_is_at_most_that_of_its_link() -> None:
    found = compared(0.020, 0.001, {**GOOD, "flag": "unusable", "why": "1 trials saw the clock step"})
    assert (found["flag"], found["why"]) == ("unusable", "uplink: 1 trials saw the clock step")
    assert found["causes"] == ["the link"]


def test_a_comparisons_quality_is_at_most_that_of_the_cpu_of_each_side() -> None:
    waits = {"two": Wait("h2", None, None, "limited", "endpoints waited")}
    found = compared(0.020, 0.001, waits=waits)
    assert (found["flag"], found["why"], found["causes"]) == ("limited", "h2: endpoints waited", ["the machine"])


@pytest.mark.parametrize("metric", ["wire-bytes", "client-cpu-work"])
def test_counts_and_cpu_times_ignore_waits_and_timing_errors_but_not_a_wrong_link(metric: str) -> None:
    waits = {"two": Wait("h2", None, None, "unusable", "endpoints waited")}
    found = compared(0.0005, 0.001, waits=waits, metric=metric)
    assert (found["flag"], found["causes"]) == ("good", [])
    lossy = {**GOOD, "flag": "limited", "why": "lost more"}
    assert compared(0.0005, 0.001, lossy, waits, metric)["flag"] == "limited"


def test_stolen_cpu_lowers_the_quality_of_cpu_times_and_not_of_counts() -> None:
    waits = {
        side: Wait(name, 0.5, steal, "unusable", "endpoints waited")
        for side, name, steal in (("one", "h2", 0.03), ("two", "h3", 0.04))
    }
    found = compared(0.0005, 0.001, waits=waits, metric="client-cpu-work")
    assert (found["flag"], found["causes"]) == ("limited", ["the machine"])
    assert found["why"] == "h3: a hypervisor gave 4.0% of a CPU to others"
    waits["one"] = replace(waits["one"], steal=0.2)
    assert compared(0.0005, 0.001, waits=waits, metric="client-cpu-work")["flag"] == "unusable"
    assert compared(0.0005, 0.001, waits=waits, metric="wire-bytes")["flag"] == "good"


@pytest.mark.parametrize("metric", ["client-utilisation", "throughput", "radio-energy"])
def test_a_metric_that_is_not_a_delay_ignores_the_delay_error_but_not_waits(metric: str) -> None:
    assert compared(0.0005, 0.001, metric=metric)["flag"] == "good"
    waits = {"two": Wait("h2", None, None, "unusable", "endpoints waited")}
    assert compared(0.0005, 0.001, waits=waits, metric=metric)["flag"] == "unusable"


def test_the_side_with_more_cpu_waiting_is_named() -> None:
    waits = {
        side: Wait(name, share, None, "unusable", f"endpoints waited {share:.0%}")
        for side, name, share in (("one", "h2", 0.3), ("two", "h3", 0.2))
    }
    assert compared(0.020, 0.001, waits=waits)["why"] == "h2: endpoints waited 30%"


def test_an_unknown_timing_error_is_not_taken_for_zero() -> None:
    assert compared(0.020, None)["flag"] == "limited"


def test_the_mean_is_of_all_packets_and_never_above_the_largest() -> None:
    histogram = LatenessHistogram(upper_ns=(1000, 2000, 2**63), packets=(1, 1, 2), max_ns=5000)
    assert mean_lateness_ns([histogram]) == (1000 + 2000 + 5000 + 5000) / 4
    assert mean_lateness_ns([]) is None


def test_netems_timing_error_is_unknown_from_the_log_of_arrivals(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, links=("lossless",), uploads=("30 B",), trials=2, exchanges=5)
    path = folder / "plan.json"
    plan = json.loads(path.read_text())
    netem, *others = plan["scenarios"]
    netem["link"]["backend"] = "netem"
    path.write_text(json.dumps(whole_plan(plan)))
    assert round_trip_errors(Dataset.read(folder)).keys() == {scenario["key"] for scenario in others}


def test_every_scenario_of_a_campaign_has_its_links_error(tmp_path: Any) -> None:
    dataset = Dataset.read(write_campaign(tmp_path, trials=2, exchanges=5))
    errors = round_trip_errors(dataset)
    assert set(errors) == {scenario.key for scenario in dataset.scenarios}
    assert all(0 < error < 1e-3 for error in errors.values())
    rows = link_rows(dataset, [whole_link({**GOOD, "link_name": "burst"})])  # type: ignore[list-item]
    assert {len(rows[each.key]) for each in dataset.scenarios if each.link_name == "burst"} == {1}


@pytest.mark.parametrize(
    ("without", "flag"), [((1.1, 1.2), "good"), ((0.9, 1.1), "unusable"), ((0.7, 0.8), "unusable")]
)
def test_cpu_waiting_matters_where_the_difference_does_not_survive_without_it(
    without: tuple[float, float], flag: str
) -> None:
    ratio = Estimate(1.3, 1.2, 1.4, 0.95, 9, "made up")
    shift = Estimate(0.02, 0.019, 0.021, 0.95, 9, "made up")
    family: Family = {"name": "all", "size": 1, "method": "none", "error_rate": 0.05}
    comparison = Comparison("end-to-end-delay", "one", "two", ratio, ratio, shift, shift, 0.5, 0.5, family)
    waits = {"two": Wait("h2", 0.5, None, "unusable", "endpoints waited", 0.01)}
    other = Estimate(sum(without) / 2, *without, 0.95, 9, "made up")
    taken = {"mean": [Without("10 ms of CPU waiting of h2", ("the machine",), other)]}
    found = comparison_record(comparison, {"one": 1e-6, "two": 1e-6}, {}, waits, taken)
    assert found["link"]["flag"] == "good"
    assert found["link_of_means"]["flag"] == flag
