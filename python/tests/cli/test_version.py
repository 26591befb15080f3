"""`--version` names what a result depends on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import wirelab
from tests.cli.test_main import run
from wirelab import agent
from wirelab.cli import version
from wirelab.cli.version import version_lines
from wirelab.errors import RunError


def git(folder: Path, *arguments: str) -> str:
    named = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(["git", "-C", str(folder), *named, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    monkeypatch.setattr(version, "ROOT", tmp_path)
    return tmp_path


def test_a_checkout_has_its_commit_and_says_if_files_changed(checkout: Path) -> None:
    commit = git(checkout, "rev-parse", "--short=12", "HEAD")
    assert list(version_lines())[:2] == [f"wirelab {wirelab.__version__}", f"commit  {commit}"]
    (checkout / "file").write_text("two")
    assert list(version_lines())[1] == f"commit  {commit}, with changes"


def test_an_installed_package_has_the_commit_of_its_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "ROOT", tmp_path)
    monkeypatch.setattr(version.resources, "files", lambda _: tmp_path)
    assert [line.split()[0] for line in version_lines()] == ["wirelab", "agent"]
    (tmp_path / "commit.txt").write_text("0123456789ab\n")
    assert list(version_lines())[1] == "commit  0123456789ab"


def test_the_agent_is_named_by_its_digest_or_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(version_lines())[-1] == f"agent   SHA-256 {agent.digest(agent.find_agent())[:12]}"

    def none() -> Path:
        raise RunError("no wirelab-agent on PATH", hint="build it")

    monkeypatch.setattr(agent, "find_agent", none)
    assert list(version_lines())[-1] == "agent   none: no wirelab-agent on PATH"


def test_the_option_prints_them() -> None:
    code, out, err = run("--version")
    assert (code, err) == (0, "")
    assert out.splitlines() == list(version_lines())
