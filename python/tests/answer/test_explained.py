"""The record of an explanation."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.asked import ask
from tests.synthetic import write_campaign
from wirelab.answer.explain import PHASES, Side, Swapped
from wirelab.answer.explained import Campaign, record
from wirelab.errors import RunError
from wirelab.experiment.experiment import Experiment, load_experiment
from wirelab.experiment.grid.scenario import Scenario
from wirelab.stats.dataset import Dataset


def _words(scenario: Scenario) -> tuple[str, str]:
    return f"link of {scenario.name}", f"workload of {scenario.name}"


def _made(folder: Path, *, timed_out: float = 0.0) -> tuple[Experiment, tuple[Side, Side], Swapped, Campaign]:
    """Two scenarios whose links do nothing that can be taken away."""
    write_campaign(
        folder, protocols=("h2", "h3"), links=("random",), uploads=("30 B",), trials=4, exchanges=10,
        timed_out=timed_out,
    )  # fmt: skip
    found = Dataset.read(folder)
    phases = {name: pl.col("response_time_ns") / 2 if "wait_ns" in name else None for name in PHASES}
    dataset = Dataset(found.folder, found.plan, found.exchanges.with_columns(**phases), found.trials)
    experiment = load_experiment("message", ["protocol=h2, h3", "link.rtt=0 ms"], ask)
    first, second = experiment.scenarios
    sides = (Side.of(first, ask), Side.of(second, ask))
    planned = {each.protocol: each.key for each in dataset.scenarios}
    keys = {
        each.digest(): planned[scenario.protocol]
        for side, scenario in zip(sides, (first, second), strict=True)
        for each in side.scenarios()
    }
    swapped = Swapped.of(first, second, experiment.scenarios)
    return experiment, sides, swapped, Campaign(dataset, keys)


def test_the_record_has_both_sides_and_shares_that_sum_to_the_difference(tmp_path: Path) -> None:
    found = record(*_made(tmp_path), _words)
    assert (found["experiment"], found["first"]["name"], found["second"]["name"]) == ("message", "h2", "h3")
    assert (found["first"]["link"], found["second"]["workload"]) == ("link of h2", "workload of h3")
    assert (found["first"]["trials"], found["first"]["exchanges"]) == (4, 40)
    point = found["difference_s"]["point"]
    assert point == pytest.approx(found["second"]["mean_s"]["point"] - found["first"]["mean_s"]["point"])
    assert sum(each["difference_s"]["point"] for each in found["shares"]) == pytest.approx(point)
    [level] = found["levels"]
    assert (level["factor"], level["difference_s"]["point"]) == ("protocol", pytest.approx(point))


def test_time_outs_and_few_trials_warn(tmp_path: Path) -> None:
    found = record(*_made(tmp_path, timed_out=0.3), _words)
    assert any("timed out" in words for words in found["warnings"])
    assert any("its intervals are of 4 trials only" in words for words in found["warnings"])


def test_without_a_completed_exchange_there_is_nothing_to_compare(tmp_path: Path) -> None:
    experiment, sides, swapped, campaign = _made(tmp_path)
    whole = campaign.dataset
    empty = Dataset(whole.folder, whole.plan, whole.exchanges.head(0), whole.trials)
    with pytest.raises(RunError, match="nothing can be compared"):
        record(experiment, sides, swapped, Campaign(empty, campaign.keys), _words)
