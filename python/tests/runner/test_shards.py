"""Parts of a plan: every unit in exactly one, the same on every machine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.plan import make_plan
from wirelab.runner.shards import Shard, divided, lacking, units
from wirelab.schema.plan import Plan

EXPERIMENT = """\
title = "A small experiment"
metric = "end-to-end-delay"
clock = "CLOCK"

[factors]
protocol = ["http1", "coap", "h2"]

[workload]
kind = "telemetry"

[stop]
replicates = 5
"""


def _plan(folder: Path, clock: str = "virtual", more: str = "") -> Plan:
    path = folder / "x.toml"
    path.write_text(EXPERIMENT.replace("CLOCK", clock) + more)
    return make_plan(load_experiment(str(path)))


@pytest.mark.parametrize("clock", ["virtual", "live"])
@pytest.mark.parametrize("of", [1, 2, 4, 5])
def test_every_trial_is_in_one_shard(tmp_path: Path, clock: str, of: int) -> None:
    plan = _plan(tmp_path, clock)
    counts = Counter(trial for number in range(1, of + 1) for trial in Shard(number, of).trials(plan))
    assert counts.keys() == {trial.trial for block in plan.blocks for trial in block.trials}
    assert set(counts.values()) == {1}


def test_in_real_time_a_block_is_never_divided(tmp_path: Path) -> None:
    assert [len(unit) for unit in units(_plan(tmp_path, "live"))] == [3] * 5
    assert [len(unit) for unit in units(_plan(tmp_path))] == [1] * 15


def test_a_part_keeps_the_numbers_of_blocks_and_all_scenarios(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    part = Shard(2, 4).part(plan)
    assert [block.block for block in part.blocks] == [block.block for block in plan.blocks]
    assert part.scenarios == plan.scenarios
    assert part.trials == len(Shard(2, 4).trials(plan)) < plan.trials


def test_the_shards_that_lack_a_trial_are_named(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    finished = Shard(1, 3).trials(plan) | Shard(3, 3).trials(plan)
    assert [*map(str, lacking(plan, 3, finished))] == ["2/3"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("3", "is not a part"),
        ("0/4", "no shard 0 of 4"),
        ("5/4", "no shard 5 of 4"),
        ("a/b", "is not a part"),
    ],
)
def test_other_texts_are_refused(text: str, what: str) -> None:
    with pytest.raises(WirelabError, match=what):
        Shard.read(text)
    assert Shard.read(" 3/20 ") == Shard(3, 20)


def test_more_shards_than_units_name_the_maximum(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="there are 5 blocks, too few for 6 shards") as refused:
        Shard(6, 6).trials(_plan(tmp_path, "live"))
    assert refused.value.hint == "at most N/5"


def test_a_budget_by_the_clock_is_dropped_and_a_rule_by_what_was_measured_refused(tmp_path: Path) -> None:
    plan = divided(_plan(tmp_path, more='budget = "5 s"\n'))
    assert plan.experiment.stop.budget_ns is None
    rule = EXPERIMENT.replace("replicates = 5", 'replicates = [5, 9]\ninterval = "10 %"').replace("CLOCK", "virtual")
    (tmp_path / "rule.toml").write_text(rule)
    with pytest.raises(WirelabError, match=r"stop\.interval") as refused:
        divided(make_plan(load_experiment(str(tmp_path / "rule.toml"))))
    assert "--set stop.replicates=9" in (refused.value.hint or "")
