"""Texts of entries as templates: what they render to, and how a wrong one is reported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from wirelab.errors import WirelabError
from wirelab.experiment.programs.implementations import Implementation, Origin, parse
from wirelab.experiment.programs.texts import PER_EXCHANGE, TextError, holds, render

ENTRY = """
[mine]
title = "Mine"
homepage = "https://example.org"
install = "it is here"
version_command = ["mine"]

[mine.roles.server]
protocols = ["http1"]
ready = "event"
command = [
    "mine", "{{ place }}/{{ word }}",
    { if = "word == 'a b'", add = ["--blank", "{{ word }}"] },
    { if = "word is integer", add = ["--bits={{ word.bit_length() }}"] },
]
"""


def program(folder: Path, text: str = ENTRY) -> Implementation:
    path = folder / "implementations.toml"
    path.write_text(text)
    return parse(path, str(path), {"place": "/here"})["mine"]


def command(program: Implementation, **values: object) -> list[str]:
    assert program.roles.server is not None
    return program.command(program.roles.server.command, values)


def test_each_text_is_one_argument_for_any_value(tmp_path: Path) -> None:
    mine = program(tmp_path)
    assert command(mine, word="a b") == ["mine", "/here/a b", "--blank", "a b"]
    for value in ("x y", "'; rm -rf /", '"', "a\nb", "$(id)", "{{ 7 * 7 }}", ""):
        assert command(mine, word=value) == ["mine", f"/here/{value}"]


def test_a_value_is_not_rendered_as_a_template() -> None:
    assert render("{{ word }}", {"word": "{{ 7 * 7 }}"}) == "{{ 7 * 7 }}"
    assert render("<{{ word }}>", {"word": "<&>"}) == "<<&>>"


def test_a_condition_may_ask_for_a_number(tmp_path: Path) -> None:
    assert command(program(tmp_path), word=4095)[-1] == "--bits=12"
    assert command(program(tmp_path), word=True) == ["mine", "/here/True"]
    assert command(program(tmp_path), word="default") == ["mine", "/here/default"]


def test_a_text_without_a_template_stays_unchanged() -> None:
    for text in ("", "%{time}", "${HOME}", "{url}", "a {\n}\n", "\r\n"):
        assert render(text, {}) == text
    assert render("{{ a }}\n", {"a": 1}) == "1\n"


def test_only_placeholders_that_the_agent_fills_in_are_allowed() -> None:
    assert render("@{{ upload_file }} {{ 'a' ~ url }}", PER_EXCHANGE) == "@{upload_file} a{url}"
    for text in ("{{ timeout_s * 1000 }}", "{% if url %}{% endif %}", "{{ url == 'a' }}", "{{ url | length }}"):
        with pytest.raises(TextError):
            render(text, PER_EXCHANGE)


@pytest.mark.parametrize("text", ["{{ ''.__class__ }}", "{{ render.__globals__ }}", "{{ cycler }}{{ lipsum() }}"])
def test_a_template_cannot_reach_python_or_random_values(text: str) -> None:
    with pytest.raises(TextError):
        render(text, {"render": render})


def test_an_error_while_rendering_has_the_file_the_line_the_entry_and_the_variable(tmp_path: Path) -> None:
    with pytest.raises(WirelabError) as caught:
        command(program(tmp_path), wrod="a")
    assert str(caught.value) == (
        f"{tmp_path / 'implementations.toml'}:12: mine.roles.server.command.1: "
        "'word' is undefined ({{ place }}/{{ word }})\nhint: did you mean 'wrod'? (known: place, wrod)"
    )
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("opens", "line"), [("'''\n", 4), ("'''", 3), ('"""\n', 4)], ids=["below", "on the same line", "with escapes"]
)
def test_an_error_in_a_text_of_several_lines_has_its_line(tmp_path: Path, opens: str, line: int) -> None:
    wrong = "first\n{% if word %}\n{{ 1 // 0 }}{% endif %}"
    text = ENTRY + f'[[mine.roles.server.files]]\npath = "x"\ntext = {opens}{wrong}{opens.strip()}\n'
    mine = program(tmp_path, text)
    with pytest.raises(WirelabError) as caught:
        mine.text(wrong, {"word": 1})
    start = text.splitlines().index("[[mine.roles.server.files]]") + 1
    assert f":{start + line + 1}: mine.roles.server.files.0.text: cannot be rendered: " in str(caught.value)


def test_a_condition_on_an_unknown_variable_is_an_error_and_not_false() -> None:
    with pytest.raises(TextError, match="'word' is undefined"):
        holds("word", {})
    with pytest.raises(TextError, match="is not a template"):
        holds("word ==", {"word": 1})


def test_an_entry_without_a_file_has_errors_without_a_place() -> None:
    entry = Implementation.model_validate(
        {"title": "", "homepage": "", "install": "", "version_command": ["true"], "roles": {}}
    )
    with pytest.raises(WirelabError, match="'word' is undefined"):
        entry.text("{{ word }}", {})
    assert Origin("a", "implementations.toml", Path(), {}).shipped


def test_the_catalogue_is_read_without_jinja2() -> None:
    code = "import sys; from wirelab.runner.implementations import load, missing\n"
    code += "[missing(each) for each in load(None).values()]; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
