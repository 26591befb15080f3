"""Settings that a program has of its own, in an experiment: read, varied, and passed to that program alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.asked import load_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.experiment import Experiment
from wirelab.plan import make_plan
from wirelab.runner.barriers import program_barrier, settings_for
from wirelab.runner.implementations import load
from wirelab.schema import Role
from wirelab.schema.plan import Plan

CATALOGUE = """
[mine]
title = "Mine"
homepage = "https://example.org"
install = "it is here"
version_command = ["true"]
[mine.settings.think-time]
about = "How long it thinks."
default = 5
minimum = 0
maximum = 1000
unit = "ms"
[mine.settings.mood]
about = "How it is."
choices = ["good", "bad"]
default = "good"
[mine.roles.client]
protocols = ["http1", "h2"]
command = ["true", "{{ parameters }}"]
arguments = [{ if = "mood == 'bad'", add = ["--grumble"] }]
requires = [{ when = { mood = ["bad"] }, think-time = [5, 100] }]
"""


def experiment(folder: Path, text: str = "", factors: str = 'implementation = ["builtin", "mine"]') -> Experiment:
    (folder / "implementations.toml").write_text(CATALOGUE)
    file = folder / "test.toml"
    file.write_text(f'title = "T"\n[factors]\nprotocol = ["http1"]\n{factors}\n{text}\n')
    return load_experiment(str(file))


def settings(found: Experiment) -> list[tuple[str, dict[str, Any]]]:
    """Who the client is, and what settings programs get, of each scenario."""
    settings_for = [(each.implementation["client"], each.program_settings) for each in found.scenarios]
    return [(client, {name: dict(values) for name, values in own.items()}) for client, own in settings_for]


def test_program_settings_have_defaults_only_in_scenarios_of_the_program(tmp_path: Path) -> None:
    found = experiment(tmp_path)
    assert settings(found) == [("builtin", {}), ("mine", {"mine": {"think-time": 5, "mood": "good"}})]
    builtin, mine = (each.identity() for each in found.scenarios)
    assert "program_settings" not in builtin
    assert mine["program_settings"] == {"mine": {"think-time": 5, "mood": "good"}}
    assert "think-time" not in mine["settings"]


def test_a_programs_table_sets_its_settings_with_units(tmp_path: Path) -> None:
    found = experiment(tmp_path, '[programs.mine]\nthink-time = "0.1 s"\nmood = "bad"')
    assert settings(found)[1] == ("mine", {"mine": {"think-time": 100, "mood": "bad"}})


def test_a_program_setting_can_be_a_factor_of_the_programs_scenarios(tmp_path: Path) -> None:
    varied = 'implementation = ["builtin", "mine"]\n"programs.mine.think-time" = ["0 ms", "20 ms"]'
    found = experiment(tmp_path, factors=varied)
    assert [(client, own.get("mine", {}).get("think-time")) for client, own in settings(found)] == [
        ("builtin", None), ("mine", 0), ("mine", 20),
    ]  # fmt: skip
    assert [len(each.points) for each in found.scenarios] == [2, 1, 1]
    assert len({each.name for each in found.scenarios}) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[programs.mime]\nmood = 'bad'", "programs.mime: no program with its own settings"),
        ("[programs.mine]\nmoods = 'bad'", "programs.mine.moods: unknown setting"),
        ("[programs.mine]\nmood = 'so so'", "programs.mine.mood: unknown value"),
        ("[programs.mine]\nthink-time = '2 s'", "programs.mine.think-time: is out of range"),
    ],
)
def test_an_error_in_program_settings_is_reported_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(WirelabError) as caught:
        experiment(tmp_path, text)
    assert words in str(caught.value)
    assert "hint: " in str(caught.value)


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        ('"programs.mine.moods" = ["bad"]', "mine has no setting 'moods'"),
        ('"programs.mine.mood" = ["so so"]', "unknown value"),
        ('"programs.nobody.mood" = ["bad"]', "unknown program with its own settings 'nobody'"),
    ],
)
def test_an_error_in_a_factor_of_program_settings_is_reported_with_its_place(
    tmp_path: Path, factor: str, words: str
) -> None:
    with pytest.raises(WirelabError) as caught:
        experiment(tmp_path, factors=factor)
    assert words in str(caught.value)
    assert "programs." in str(caught.value)


def test_a_plan_passes_program_settings_to_that_program_only(tmp_path: Path) -> None:
    made = make_plan(experiment(tmp_path, '[programs.mine]\nmood = "bad"'))
    plan = Plan.model_validate(made.to_json())
    assert plan == made
    builtin, mine = plan.scenarios
    assert "program_settings" not in made.to_json()["scenarios"][0]
    assert settings_for(mine, Role.CLIENT) == {**mine.settings, "think-time": 5, "mood": "bad"}
    assert settings_for(mine, Role.SERVER) == mine.settings
    assert settings_for(builtin, Role.CLIENT) == builtin.settings
    assert len({each.key for each in plan.scenarios}) == 2


@pytest.mark.parametrize(("thinks", "refused"), [("5 ms", False), ("7 ms", True)])
def test_some_program_settings_require_others(tmp_path: Path, thinks: str, *, refused: bool) -> None:
    plan = make_plan(experiment(tmp_path, f'[programs.mine]\nmood = "bad"\nthink-time = "{thinks}"'))
    barrier = program_barrier(plan.scenarios[1], load(tmp_path), plan.known)
    assert (barrier is not None) == refused
    assert barrier is None or barrier.error == "mine does this only with think-time = 5 or 100"


def test_the_shipped_browser_can_be_throttled_by_devtools(tmp_path: Path) -> None:
    file = tmp_path / "test.toml"
    file.write_text(
        'title = "T"\n[factors]\nprotocol = ["h2"]\n"client.implementation" = ["chromium"]\n'
        '"programs.chromium.devtools-latency" = ["0 ms", "20 ms"]\n'
    )
    scenarios = load_experiment(str(file)).scenarios
    assert [each.program_settings["chromium"] for each in scenarios] == [
        {"devtools-latency": 0}, {"devtools-latency": 20},
    ]  # fmt: skip
