"""Entries of programs, looked at before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.errors import CombinedError, WirelabError
from wirelab.experiment.library import templates
from wirelab.plan import make_plan
from wirelab.runner.entries import forecast_failures, needed_programs, wrong
from wirelab.runner.implementations import load
from wirelab.schema import registered
from wirelab.schema.plan import Plan


def own(folder: Path, old: str = "", new: str = "") -> Plan:
    for name, text in templates("protocol").items():
        (folder / name.replace("NAME", "mine")).write_text(text.replace("NAME", "mine"))
    catalogue = folder / "implementations.toml"
    assert old in catalogue.read_text()
    catalogue.write_text(catalogue.read_text().replace(old, new))
    return make_plan(load_experiment(str(folder / "experiment.toml")))


def test_the_programs_of_a_plan_are_those_that_it_names(tmp_path: Path) -> None:
    plan = own(tmp_path)
    assert needed_programs(plan, tmp_path).keys() == {"mine-py"}
    assert forecast_failures(plan, tmp_path) == ([], frozenset(), frozenset(), [])


def refused(folder: Path, old: str, new: str) -> str:
    with pytest.raises(WirelabError) as caught:
        needed_programs(own(folder, old, new), folder)
    assert caught.value.exit_code == 2
    return str(caught.value)


def line(folder: Path, text: str) -> int:
    """The line of a file's text, from 1."""
    lines = (folder / "implementations.toml").read_text().splitlines()
    return next(number for number, each in enumerate(lines, 1) if text in each)


def test_an_unknown_variable_is_named_with_its_file_line_and_entry(tmp_path: Path) -> None:
    said = refused(tmp_path, '"{{ address }}", "{{ port }}"', '"{{ adress }}", "{{ port }}"')
    place = f"{tmp_path / 'implementations.toml'}:{line(tmp_path, 'adress')}: mine-py.roles.server.command.2"
    assert said == f"{place}: unknown variable 'adress' ({{{{ adress }}}})\nhint: did you mean 'address'?"


def test_all_errors_of_an_entry_are_reported_together(tmp_path: Path) -> None:
    with pytest.raises(CombinedError):
        needed_programs(own(tmp_path, '"{{ parameters }}"', '"{{ url }}", "{{ params }}"'), tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [("{{ port", "is not a template: "), ("{% if port %}", "is not a template: "), ("{{ port | twice }}", "twice")],
)
def test_a_text_that_is_not_a_template_is_refused(tmp_path: Path, text: str, words: str) -> None:
    assert words in refused(tmp_path, '"{{ port }}"', f'"{text}"')


def test_a_variable_in_single_braces_is_refused_with_the_correct_form(tmp_path: Path) -> None:
    said = refused(tmp_path, '"{{ port }}"', '"--port={port}"')
    assert "{port} is not a variable (--port={port})\nhint: write {{ port }}" in said


def test_other_braces_are_left_unchanged(tmp_path: Path) -> None:
    words = '"{{ parameters }}", "%{time}", "${HOME}", "{}", "{\\"a\\":1}", "{port_of}", "%{port}"'
    needed_programs(own(tmp_path, '"{{ parameters }}"', words), tmp_path)


FILE = """ready = "event"
[[mine-py.roles.server.files]]
path = "links"
text = '''
{port} is left alone in a file.
{% for resource in resources %}
{{ resource.link }} {{ title }}
{% endfor %}'''
"""


def test_a_variable_of_a_file_is_named_with_the_line_of_its_text(tmp_path: Path) -> None:
    said = refused(tmp_path, 'ready = "event"', FILE)
    place = f"implementations.toml:{line(tmp_path, 'title }}')}: mine-py.roles.server.files.0.text"
    assert f"{place}: unknown variable 'title' ({{{{ resource.link }}}} {{{{ title }}}})" in said
    needed_programs(own(tmp_path, 'ready = "event"', FILE.replace("title", "site")), tmp_path)


@pytest.mark.parametrize("key", ["waiting", "loading", "payload"])
def test_variables_of_an_exchange_are_only_for_the_command_of_each_exchange(tmp_path: Path, key: str) -> None:
    client = 'per_exchange = ["true", "{{ url }}"]\nwaiting = ["true", "{{  url }}"]\nworkloads = ["pubsub"]\n'
    command = 'command = ["{{ python }}", "{{ beside }}/mine_client.py", "{{ parameters }}"]\n'
    old, new = {
        "waiting": (command, client),
        "loading": (command, client.replace("waiting", "loading").replace("pubsub", "page")),
        "payload": ('ready = "event"', 'ready = "event"\npayload = "www/{{ url }}"'),
    }[key]
    said = refused(tmp_path, old, new)
    assert f".{key}" in said
    assert "unknown variable 'url'" in said


@pytest.mark.parametrize("condition", ["uplaod", "protocol == 'mine' and uplaod > 1"])
def test_a_condition_names_known_variables(tmp_path: Path, condition: str) -> None:
    said = refused(tmp_path, '"{{ port }}"]', f'"{{{{ port }}}}", {{ if = "{condition}", add = ["-v"] }}]')
    assert f"mine-py.roles.server.command.4.if: unknown variable 'uplaod' ({condition})" in said
    assert "did you mean 'upload'?" in said


REQUIRES = 'ready = "event"\n[[mine-py.roles.server.requires]]\n{condition}\n'


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("when = { upload = true }", "requires.0.when.upload: should be a list (true)"),
        ('when = { protocol = "mine" }', 'requires.0.when.protocol: should be a list ("mine")'),
        ("when = { upload = [] }", "requires.0.when.upload: is empty ([])"),
        ("download = false", "requires.0.download: should be a list (false)"),
    ],
)
def test_the_values_of_a_requirement_are_a_list(tmp_path: Path, condition: str, words: str) -> None:
    with pytest.raises(WirelabError) as caught:
        own(tmp_path, 'ready = "event"', REQUIRES.format(condition=condition))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("condition", "place"), [("when = { uplaod = [true] }", "requires.0.when"), ("uplaod = [true]", "requires.0")]
)
def test_a_requirement_names_known_settings(tmp_path: Path, condition: str, place: str) -> None:
    said = refused(tmp_path, 'ready = "event"', REQUIRES.format(condition=condition))
    words = f"mine-py.roles.server.{place}: no setting of mine, and no fact (uplaod)\nhint: did you mean 'upload'?"
    assert words in said


@pytest.mark.parametrize(
    ("word", "words"),
    [("1", "should be a string, or a table with `if` and `add` (1)"), ('{ if = "true" }', "add: is missing")],
)
def test_a_word_of_a_command_is_a_text_or_a_table(tmp_path: Path, word: str, words: str) -> None:
    with pytest.raises(WirelabError) as caught:
        own(tmp_path, '"{{ port }}"', word)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", load(None))
def test_every_shipped_entry_passes(name: str) -> None:
    assert not list(wrong(load(None)[name], registered()))


def test_a_missing_program_is_reported(tmp_path: Path) -> None:
    plan = own(tmp_path, '["{{ python }}", "--version"]', '["no-such-program-here"]')
    (tmp_path / "mine_client.py").unlink()
    assert forecast_failures(plan, tmp_path).words == [
        "2 of 6 scenarios would fail (mine, clean; mine, lossy): no-such-program-here is not installed; "
        "it is next to the experiment",
        f"mine-py: its entry names {tmp_path / 'mine_client.py'}, which is not there",
    ]
