"""Entries of programs, looked at before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.errors import CombinedError, WirelabError
from wirelab.experiment import load_experiment
from wirelab.experiment.library import templates
from wirelab.plan import make_plan
from wirelab.runner.entries import foreseen_failures, needed_programs
from wirelab.runner.implementations import load
from wirelab.schema.plan import Implementations, Plan


def own(folder: Path, old: str = "", new: str = "") -> Plan:
    for name, text in templates().items():
        (folder / name.replace("NAME", "mine")).write_text(text.replace("NAME", "mine"))
    catalogue = folder / "implementations.toml"
    assert old in catalogue.read_text()
    catalogue.write_text(catalogue.read_text().replace(old, new))
    return make_plan(load_experiment(str(folder / "experiment.toml")))


def test_the_programs_of_a_plan_are_those_that_it_names(tmp_path: Path) -> None:
    plan = own(tmp_path)
    assert needed_programs(plan, tmp_path).keys() == {"mine-py"}
    assert foreseen_failures(plan, tmp_path) == ([], frozenset())


def test_a_placeholder_that_nobody_fills_in_is_named_with_its_key(tmp_path: Path) -> None:
    with pytest.raises(WirelabError) as caught:
        needed_programs(own(tmp_path, '"{address}", "{port}"', '"{adress}", "{port}"'), tmp_path)
    assert str(caught.value).startswith(
        f"{tmp_path / 'implementations.toml'}: mine-py.roles.server.command: nobody fills in {{adress}} ({{adress}})"
    )
    assert "did you mean 'address'?" in str(caught.value)
    with pytest.raises(CombinedError):
        needed_programs(own(tmp_path, '"{parameters}"', '"{url}", "{params}"'), tmp_path)


def test_braces_that_are_not_ours_are_left_alone(tmp_path: Path) -> None:
    needed_programs(
        own(tmp_path, '"{parameters}"', '"{parameters}", "%{time}", "${HOME}", "{}", "{\\"a\\":1}"'), tmp_path
    )


def test_a_text_for_each_resource_may_have_what_is_known_of_one(tmp_path: Path) -> None:
    table = 'ready = "event"\n[[mine-py.roles.server.each]]\nlinks = "{link} {title}"\n'
    with pytest.raises(WirelabError) as caught:
        needed_programs(own(tmp_path, 'ready = "event"', table), tmp_path)
    assert "mine-py.roles.server.each: nobody fills in {title} ({link} {title})" in str(caught.value)
    needed_programs(own(tmp_path, 'ready = "event"', table.replace("{title}", "{path} {site}")), tmp_path)


@pytest.mark.parametrize("key", ["waiting", "loading", "payload"])
def test_what_a_client_runs_for_whole_workloads_and_where_payloads_lie_are_looked_at(tmp_path: Path, key: str) -> None:
    client = 'per_exchange = ["true", "{url}"]\nwaiting = ["true", "{url}"]\nworkloads = ["notify"]\n'
    old, new = {
        "waiting": ('command = ["{python}", "{beside}/mine_client.py", "{parameters}"]\n', client),
        "loading": (
            'command = ["{python}", "{beside}/mine_client.py", "{parameters}"]\n',
            client.replace("waiting", "loading").replace("notify", "page"),
        ),
        "payload": ('ready = "event"', 'ready = "event"\npayload = "www/{url}"'),
    }[key]
    with pytest.raises(WirelabError) as caught:
        needed_programs(own(tmp_path, old, new), tmp_path)
    assert f".{key}: nobody fills in {{url}}" in str(caught.value)


CONDITIONAL = 'ready = "event"\n[[mine-py.roles.server.{table}]]\n{condition}\n'


@pytest.mark.parametrize(
    ("table", "condition", "words"),
    [
        ("define", "when = { upload = true }", "define.0.when.upload: should be a list (true)"),
        ("define", 'when = { stack = "mine" }', 'define.0.when.stack: should be a list ("mine")'),
        ("define", "when = { upload = [] }", "define.0.when.upload: is empty ([])"),
        ("requires", "download = false", "requires.0.download: should be a list (false)"),
    ],
)
def test_values_of_a_condition_are_a_list(tmp_path: Path, table: str, condition: str, words: str) -> None:
    with pytest.raises(WirelabError) as caught:
        own(tmp_path, 'ready = "event"', CONDITIONAL.format(table=table, condition=condition))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("table", "condition", "place"),
    [
        ("define", "when = { uplaod = [true] }", "define.0.when"),
        ("arguments", 'add = ["-v"]\nwhen = { uplaod = [true] }', "arguments.0.when"),
        ("define", 'given = ["uplaod"]', "define.0.given"),
        ("requires", "when = { uplaod = [true] }", "requires.0.when"),
        ("requires", "uplaod = [true]", "requires.0"),
    ],
)
def test_a_condition_asks_for_what_there_is(tmp_path: Path, table: str, condition: str, place: str) -> None:
    with pytest.raises(WirelabError) as caught:
        needed_programs(
            own(tmp_path, 'ready = "event"', CONDITIONAL.format(table=table, condition=condition)), tmp_path
        )
    words = f"mine-py.roles.server.{place}: no setting of mine, and no fact (uplaod)\nhint: did you mean 'upload'?"
    assert words in str(caught.value)


def test_every_shipped_entry_passes(tmp_path: Path) -> None:
    [scenario] = own(tmp_path).scenarios[:1]
    both = [scenario.model_copy(update={"implementation": Implementations(client=n, server=n)}) for n in load(None)]
    plan = own(tmp_path).model_copy(update={"scenarios": tuple(both)})
    assert needed_programs(plan, tmp_path).keys() == load(None).keys()


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    plan = own(tmp_path, '["{python}", "--version"]', '["no-such-program-here"]')
    (tmp_path / "mine_client.py").unlink()
    assert foreseen_failures(plan, tmp_path).words == [
        "2 of 6 scenarios would fail (mine, clean; mine, lossy): no-such-program-here is not installed; "
        "it lies beside the experiment",
        f"mine-py: its entry names {tmp_path / 'mine_client.py'}, which is not there",
    ]
