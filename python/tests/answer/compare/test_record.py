"""The verdict over all comparisons, and what limits it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from tests.cli.test_compare import OPTIONS
from tests.documents import whole_record
from tests.stats.compare.test_clocks import edit_plan
from tests.synthetic import write_campaign
from wirelab.answer.compare.pairing import between, within
from wirelab.answer.compare.record import Campaign, changes, verdict_of
from wirelab.schema.changes import Changes, Outcome, ScenarioChange
from wirelab.schema.files import FILES
from wirelab.statistic import key_of
from wirelab.stats.analyze import analyze


def scenario(*measures: tuple[str, bool], differing: int | None = None) -> ScenarioChange:
    found: dict[str, Any] = {"measures": [{"change": change, "worse": worse} for change, worse in measures]}
    if differing is not None:
        found["packets"] = {"differing": differing}
    return cast("ScenarioChange", found)


@pytest.mark.parametrize(
    ("scenarios", "verdict"),
    [
        ([scenario(("unchanged", False))], "unchanged"),
        ([scenario(("unchanged", False), ("inconclusive", False))], "inconclusive"),
        ([scenario(("inconclusive", False)), scenario(("smaller", False))], "changed"),
        ([scenario(("larger", False))], "changed"),
        ([scenario(("larger", False)), scenario(("larger", True))], "slower"),
        ([scenario(("unchanged", False), differing=0)], "unchanged"),
        ([scenario(("unchanged", False), differing=1)], "changed"),
    ],
)
def test_one_verdict_of_all(scenarios: list[ScenarioChange], verdict: Outcome) -> None:
    assert verdict_of(scenarios) == verdict


def compared(tmp_path: Path, **facts: Any) -> Changes:
    sides = []
    for seed, name in enumerate(("old", "new")):
        folder = write_campaign(tmp_path / name, seed=seed, **OPTIONS)
        analyze(folder)
        if name in facts:
            (folder / "campaign.json").write_text(json.dumps(whole_record(facts[name])))
        sides.append(Campaign.read(folder))
    old, new = sides
    return changes(old, new, between(old.plan, new.plan), 0.05)


def test_a_record_is_valid_and_says_what_ran(tmp_path: Path) -> None:
    found = compared(tmp_path, old={"wirelab": "0.1.0"}, new={"wirelab": "0.2.0"})
    assert FILES["changes"].validate_python(found) == found
    assert (found["old"]["campaign"], found["old"]["version"]) == ("old", "0.1.0")
    assert (found["new"]["campaign"], found["new"]["version"]) == ("new", "0.2.0")
    assert found["only_old"] == []
    assert found["verdict"] == "unchanged"


def test_each_side_has_the_numbers_of_its_analysis(tmp_path: Path) -> None:
    """A few trials give the limits of a median that no resample gives."""
    found: Any = compared(tmp_path)
    for name in ("old", "new"):
        estimates = json.loads((tmp_path / name / "estimates.json").read_text())
        written = {each["key"]: each["metrics"] for each in estimates["scenarios"]}
        for each in found["scenarios"]:
            metrics = written[each["keys"][name == "new"]]
            for measure in each["measures"]:
                metric = metrics[measure["metric"]]
                assert measure[name] == (metric | metric["quantiles"])[key_of(measure["of"])]


def test_other_kernels_and_agents_are_warnings(tmp_path: Path) -> None:
    agent = {"version": "wirelab-agent 0.2.0", "sha256": "1" * 64}
    host = {"kernel": "6.2"}
    found = compared(tmp_path, old={}, new={"agent": agent, "host": host})
    assert "The kernels differ: 6.1, then 6.2." in found["warnings"]
    assert "The campaigns ran with different builds of the agent." in found["warnings"]


def test_a_quick_run_and_failed_trials_are_warnings(tmp_path: Path) -> None:
    old, new = (write_campaign(tmp_path / name, seed=3, **OPTIONS) for name in ("old", "new"))
    preview = {"budget_ns": 10**9, "replicates": [10, 2], "exchanges": [20, 20]}
    edit_plan(old, lambda plan: plan["experiment"].update(preview=preview))
    for folder in (old, new):
        analyze(folder)
    sides = Campaign.read(old), Campaign.read(new)
    warnings = changes(*sides, between(sides[0].plan, sides[1].plan), 0.05)["warnings"]
    assert any(each.startswith("The old campaign is a quick run") for each in warnings)
    assert not any(each.startswith("The new campaign") for each in warnings)


def test_what_has_no_other_side_in_one_run_is_named(tmp_path: Path) -> None:
    def one_differs(plan: dict[str, Any]) -> None:
        plan["scenarios"][-1]["congestion_control"] = "bbr"

    factors = {"link.rtt": ["20 ms", "40 ms"]}
    folder = edit_plan(write_campaign(tmp_path / "both", **OPTIONS, factors=factors), one_differs)
    analyze(folder)
    both = Campaign.read(folder)
    found = changes(both, both, within(both.plan, "link"), 0.05)
    assert (found["only_old"], found["only_new"], len(found["scenarios"])) == ([], [], 1)
    assert found["warnings"][0] == (
        "Not compared, since no other scenario differs from it in link alone: h2 lossless 30 B 20 ms, "
        "h2 lossless 30 B 40 ms."
    )
