"""Files for hosted CI, hooks and releases: what they call exists, so none of them copies a script's work."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import click
import pytest

from wirelab.cli import main

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
HOOKS = ROOT / ".pre-commit-config.yaml"
CALLING = [*WORKFLOWS, HOOKS, ROOT / "RELEASING.md", ROOT / "CONTRIBUTING.md"]

NAMED = re.compile(r"(?<![\w/.~-])((?:scripts|\.ci|bench|fuzz|tests|docs)/[\w./-]*\w)")
MAKE = re.compile(r"\bmake ([a-z]+)\b")
# Commands and paths stand in code in Markdown, and may stand anywhere in YAML.
CODE = re.compile(r"^ *```\n.*?^ *```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def calls(path: Path) -> str:
    """The part of a file that may name a script."""
    text = path.read_text(encoding="utf-8")
    return "\n".join(CODE.findall(text)) if path.suffix == ".md" else text


@pytest.mark.parametrize("path", CALLING, ids=lambda path: str(path.name))
def test_every_named_script_exists_and_is_executable(path: Path) -> None:
    names = set(NAMED.findall(calls(path)))
    assert names
    # `fuzz/corpus` is made by a run and is not in git.
    missing = {name for name in names - {"fuzz/corpus"} if not (ROOT / name).exists()}
    assert not missing
    scripts = {ROOT / name for name in names if name.startswith(("scripts/", ".ci/"))}
    assert not [script for script in scripts if script.suffix == "" and not os.access(script, os.X_OK)]


@pytest.mark.parametrize("path", CALLING, ids=lambda path: str(path.name))
def test_every_named_make_target_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(MAKE.findall(calls(path))) <= targets


def test_hosted_ci_calls_the_scripts_and_runs_no_tool_of_its_own() -> None:
    [workflow] = WORKFLOWS
    text = workflow.read_text(encoding="utf-8")
    commands = [line.strip() for line in re.findall(r"^ +run: (?!\|)(.+)$", text, re.MULTILINE)]
    prepares = ("rustup toolchain install ", "sudo sysctl ")
    assert [each for each in commands if not each.startswith(prepares)] == ["scripts/test", "make nightly"]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", each) for each in re.findall(r"uses: (.+)", text))


def test_hosted_ci_runs_both_architectures_and_every_python_from_the_oldest_on() -> None:
    text = WORKFLOWS[0].read_text(encoding="utf-8")
    assert "runner: [ubuntu-24.04, ubuntu-24.04-arm]" in text
    found = re.search(r"python: \[(.+)\]", text)
    assert found is not None
    minors = [int(minor) for minor in re.findall(r'"3\.(\d+)"', found[1])]
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    assert f">=3.{minors[0]}" == oldest
    assert minors == list(range(minors[0], minors[-1] + 1))


def test_the_hooks_are_local() -> None:
    text = HOOKS.read_text(encoding="utf-8")
    assert re.findall(r"- repo: (.+)", text) == ["local"]
    assert set(re.findall(r"language: (.+)", text)) == {"system"}
    lint = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint:\n")[2].partition("\n\n")[0]
    tools = [entry for entry in re.findall(r"entry: (.+)", text) if entry != "scripts/commit-message"]
    assert len(tools) == 3
    assert set(tools) <= {line.strip() for line in lint.splitlines()}


def test_every_verb_that_an_issue_form_names_exists() -> None:
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    verbs = {verb for form in forms for verb in re.findall(r"`wirelab ([a-z][a-z-]*)", form.read_text("utf-8"))}
    assert verbs
    assert verbs <= set(main.list_commands(click.Context(main)))


def test_an_entry_of_the_changelog_is_one_short_line() -> None:
    _, _, sections = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n## ")
    entries = [line for line in sections.splitlines() if line.startswith("- ")]
    assert entries
    assert not [entry for entry in entries if len(entry.split()) > 26 or not entry.endswith(".")]
    assert not [line for line in sections.splitlines() if line.startswith(" ")], "an entry continues on a second line"
