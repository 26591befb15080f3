"""A campaign's samples by their points in the grid."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic import write_campaign
from wirelab.claims.samples import Samples, same_level
from wirelab.stats.dataset import Dataset


def _samples(folder: Path) -> Samples:
    write_campaign(folder, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=2, exchanges=4)
    return Samples(Dataset.read(folder), frozenset({"protocol", "link", "workload.upload"}), medians=True)


def test_a_scenario_is_found_at_its_levels_alone(tmp_path: Path) -> None:
    samples = _samples(tmp_path)
    [scenario] = samples.dataset.scenarios
    point = {"protocol": "h2", "link": "lossless", "workload.upload": "30B", "link.rtt": "20 ms"}
    assert samples.scenario(point) == scenario.key
    assert samples.scenario({**point, "link.rtt": "21 ms"}) is None
    assert samples.choices() == [{"link.rtt": "20 ms"}]


def test_a_time_out_bounds_delays_and_no_phases(tmp_path: Path) -> None:
    samples = _samples(tmp_path)
    [scenario] = samples.dataset.scenarios
    assert samples.horizon_s(scenario.key, "end-to-end-delay") == samples.dataset.horizon_s(scenario.key)
    assert samples.horizon_s(scenario.key, "wire-up-packets") is None
    assert samples.calm(scenario.key) == {}


def test_levels_are_compared_without_spaces_and_case() -> None:
    assert same_level("3.5 KB", "3.5kB")
    assert not same_level("30 B", "31 B")
