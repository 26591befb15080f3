import sys
from pathlib import Path

import pytest

from wirelab import agent
from wirelab.errors import RunError


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without an agent."""
    monkeypatch.delenv(agent.VARIABLE, raising=False)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python" / "bin" / "python"))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "scripts"))
    return tmp_path


def place(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\necho "$@"\nexit ${CODE:-0}\n')
    path.chmod(0o755)
    return path


PLACES = ["scripts/wirelab-agent", "python/bin/wirelab-agent", "target/release/wirelab-agent", "path/wirelab-agent"]


@pytest.mark.parametrize("name", PLACES)
def test_the_agent_is_found_in_each_place(name: str, nowhere: Path) -> None:
    placed = place(nowhere / name)
    assert agent.find_agent() == placed


def test_an_earlier_place_wins(nowhere: Path) -> None:
    found = [place(nowhere / name) for name in PLACES]
    assert agent.find_agent() == found[0]


def test_the_variable_wins_over_every_place(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place(nowhere / PLACES[0])
    named = place(nowhere / "named")
    monkeypatch.setenv(agent.VARIABLE, str(named))
    assert agent.find_agent() == named


def test_a_variable_that_names_nothing_is_an_error_and_not_skipped(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(nowhere / PLACES[0])
    monkeypatch.setenv(agent.VARIABLE, str(nowhere / "gone"))
    with pytest.raises(RunError, match="not an executable file"):
        agent.find_agent()


def test_without_an_agent_the_error_says_how_to_get_one(nowhere: Path) -> None:
    with pytest.raises(RunError) as error:
        agent.find_agent()
    assert error.value.hint is not None
    assert "cargo build --release" in error.value.hint


def test_the_answer_of_the_agent_is_its_output(nowhere: Path) -> None:
    assert agent.ask(place(nowhere / "agent"), ["describe"]) == "describe\n"


def test_an_unexpected_exit_code_is_an_error(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODE", "3")
    with pytest.raises(RunError, match="wirelab-agent describe: exit code 3"):
        agent.ask(place(nowhere / "agent"), ["describe"])
    assert agent.ask(place(nowhere / "agent"), ["x"], frozenset({3})) == "x\n"
