"""Files of a campaign, read by another build than the one that wrote them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.described import BASE, load
from wirelab.errors import WirelabError
from wirelab.plan import make_plan
from wirelab.schema.campaign import read_plan


@pytest.fixture
def plan(tmp_path: Path) -> dict[str, Any]:
    return make_plan(load(tmp_path, BASE)).to_json()


def test_a_plan_of_this_build_is_read_as_it_is(tmp_path: Path, plan: dict[str, Any]) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    assert read_plan(tmp_path).to_json() == json.loads(json.dumps(plan))


SEEDS = {"replicate": 0, "link_seed": 1, "endpoint_seed": 2}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"schema_version": 0}, "its schema_version is 0, this build's is 1"),
        ({"blocks": None}, None),
        ({"scenarios": [1]}, "scenarios.0: input should be an object (1)"),
        ({"scenarios": 5}, "scenarios: input should be a valid array (5)"),
        ({"scenarios": [{"link": 5}]}, "it has no scenarios.0.key"),
        ({"blocks": {"trials": []}}, "blocks: input should be a valid array"),
        ({"blocks": [{"block": 0, "trials": [{"trial": "t"}]}]}, "it has no blocks.0.trials.0.scenario"),
        (
            {"blocks": [{"block": 0, "trials": [{"trial": "t", "scenario": "s", **SEEDS}]}]},
            "its trial t is of no scenario",
        ),
        ({"experiment": "mine"}, "experiment: input should be an object"),
        ("torn", "it is not JSON: "),
        ([], "it is not a JSON object"),
    ],
)
def test_a_plan_of_another_build_is_refused_in_one_line_with_what_to_do(
    tmp_path: Path, plan: dict[str, Any], change: Any, why: str | None
) -> None:
    if isinstance(change, dict):
        text = json.dumps({key: value for key, value in (plan | change).items() if value is not None})
    else:
        text = json.dumps(change) if change != "torn" else json.dumps(plan)[:-9]
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(WirelabError) as caught:
        read_plan(tmp_path)
    assert caught.value.what.startswith(
        f"{tmp_path / 'plan.json'} was written by another build, or damaged: {why or 'it has no blocks'}"
    )
    assert "\n" not in caught.value.what
    assert caught.value.hint == f"plan again: wirelab run FILE --out {tmp_path} --fresh"


def test_a_link_that_this_build_does_not_know_is_named(tmp_path: Path, plan: dict[str, Any]) -> None:
    plan["scenarios"][0]["link"]["uplink"][0]["jiter_ns"] = 1
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(
        WirelabError, match=r"scenarios\.0\.link\.uplink\.0\.delay\.jiter_ns: extra inputs are not permitted"
    ):
        read_plan(tmp_path)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("scenarios", 0, "workload", "exchanges"), "ten"),
        (("scenarios", 0, "implementation"), "builtin"),
        (("scenarios", 0, "settings"), []),
        (("scenarios", 1, "expected_trial_ns"), -1),
        (("blocks", 2, "trials", 0, "replicate"), None),
        (("blocks", 0, "trials", 1, "trial"), {}),
        (("experiment", "stop", "replicates"), [1]),
        (("experiment", "factors"), ["protocol"]),
        (("seed",), "1"),
    ],
)
def test_a_wrong_value_anywhere_in_a_plan_is_one_error_with_its_place(
    tmp_path: Path, plan: dict[str, Any], path: tuple[str | int, ...], value: Any
) -> None:
    document = json.loads(json.dumps(plan))
    inner = document
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    (tmp_path / "plan.json").write_text(json.dumps(document))
    with pytest.raises(WirelabError) as caught:
        read_plan(tmp_path)
    # Where a value is one of several kinds, the place has the kind too.
    place = iter(re.split(r"[.: ]", caught.value.what.partition(" damaged: ")[2]))
    assert all(str(part) in place for part in path)
    assert "\n" not in str(caught.value.what)
