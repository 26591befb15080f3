"""How much of a CPU an endpoint's host has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.experiment import Experiment
from wirelab.plan import make_plan

TEXT = """
title = "t"
[factors]
protocol = ["raw-tcp"]
{factors}
[workload]
upload = "30 B"
[endpoints]
{endpoints}
"""


def loaded(folder: Path, factors: str = "", endpoints: str = "", *sets: str) -> Experiment:
    path = folder / "t.toml"
    path.write_text(TEXT.format(factors=factors, endpoints=endpoints))
    return load_experiment(str(path), sets)


def shares(experiment: Experiment) -> list[dict[str, float]]:
    return [dict(scenario.cpu) for scenario in experiment.scenarios]


def test_a_host_has_no_cpu_limit_by_default(tmp_path: Path) -> None:
    assert shares(loaded(tmp_path)) == [{}]
    assert shares(loaded(tmp_path, endpoints='client = { cpu = "10 %" }')) == [{"client": 0.1}]
    varied = loaded(tmp_path, '"server.cpu" = ["none", "100 %", "0.1 %"]', 'client = { cpu = "10 %" }')
    assert shares(varied) == [
        {"client": 0.1}, {"client": 0.1, "server": 1.0}, {"client": 0.1, "server": 0.001},
    ]  # fmt: skip
    assert shares(loaded(tmp_path, "", 'client = { cpu = "10 %" }', "client.cpu=none")) == [{}]
    assert shares(loaded(tmp_path, '"endpoints.client.cpu" = ["5 %"]')) == [{"client": 0.05}]


def test_a_cpu_limit_changes_the_scenarios_key_and_no_limit_does_not(tmp_path: Path) -> None:
    plain, limited = (make_plan(loaded(tmp_path, endpoints=text)) for text in ("", 'client = { cpu = "10 %" }'))
    assert plain.scenarios[0].key != limited.scenarios[0].key
    assert "cpu" not in plain.to_json()["scenarios"][0]
    assert limited.to_json()["scenarios"][0]["cpu"] == {"client": 0.1}
    unlimited = make_plan(loaded(tmp_path, endpoints='client = { cpu = "none" }'))
    assert unlimited.scenarios[0].key == plain.scenarios[0].key


@pytest.mark.parametrize("share", ["0 %", "0.05 %", "150 %", "fast"])
def test_an_invalid_cpu_share_is_refused_with_its_place(tmp_path: Path, share: str) -> None:
    with pytest.raises(WirelabError, match=r"client\.cpu"):
        loaded(tmp_path, endpoints=f'client = {{ cpu = "{share}" }}')
    with pytest.raises(WirelabError, match=r"client\.cpu"):
        loaded(tmp_path, f'"client.cpu" = ["10 %", "{share}"]')
