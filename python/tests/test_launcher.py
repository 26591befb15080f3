"""What is to be typed, as Wirelab was called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_main import run
from wirelab.launcher import LAUNCHER, installs, launched


@pytest.fixture
def checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LAUNCHER, "./wirelab")


def test_an_installed_wirelab_is_named_wirelab_in_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LAUNCHER, raising=False)
    assert launched("run quickstart") == "wirelab run quickstart"


def test_an_extra_is_installed_where_its_wirelab_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LAUNCHER, raising=False)
    assert installs("dask") == "pip install 'wirelab[dask]'"
    sync = "sync --locked --no-dev --inexact --extra dask --project"
    monkeypatch.setenv(LAUNCHER, "./wirelab")
    assert installs("dask") == f"scripts/uv {sync} ."
    monkeypatch.setenv(LAUNCHER, "/my lab/wirelab")
    assert installs("dask") == f"'/my lab/scripts/uv' {sync} '/my lab'"


def test_a_launcher_with_a_space_in_its_path_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LAUNCHER, "/my lab/wirelab")
    assert launched("list") == "'/my lab/wirelab' list"


@pytest.mark.usefixtures("checkout")
def test_hints_and_next_commands_name_the_launcher_as_typed(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert run("new", str(file))[2] == f"Next    ./wirelab plan {file}\n"
    assert "./wirelab run FILE makes one" in run("report", str(tmp_path / "none"))[2]
    assert "./wirelab link nb-iot -- COMMAND" in run("describe", "link", "nb-iot")[1]


def test_help_names_the_launcher() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wirelab", "plan"],
        capture_output=True, text=True, check=False, env={**os.environ, LAUNCHER: "./wirelab"},
    )  # fmt: skip
    assert done.stderr == "error: missing argument 'FILE'\nhint: ./wirelab plan --help\n"
