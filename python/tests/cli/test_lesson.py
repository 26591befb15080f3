"""`wirelab lesson`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirelab.cli import main
from wirelab.errors import WirelabError
from wirelab.lessons.lesson import find_lesson, lesson_names
from wirelab.runner import start
from wirelab.schema import Clock


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["lesson", *arguments], prog_name="wirelab")


@pytest.mark.parametrize("arguments", [(), ("list",)])
def test_it_lists_every_lesson_with_its_title(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.output.splitlines()] == [*lesson_names()]
    assert find_lesson("head-of-line").title in done.output


def test_an_unknown_one_is_one_error() -> None:
    done = run("head-of-lin")
    assert done.exit_code == 2
    assert "did you mean 'head-of-line'?" in done.stderr


@pytest.fixture
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Clock) -> None:
        raise WirelabError("the virtual clock's kernel runs on x86-64 only, and this is aarch64")

    monkeypatch.setattr(start, "require_clock", refuse)


@pytest.mark.usefixtures("no_clock")
def test_where_the_clock_does_not_run_the_page_is_the_one_that_ships(tmp_path: Path) -> None:
    done = run("head-of-line", "--out", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert "Not run on this machine: the virtual clock's kernel runs on x86-64 only" in done.stderr
    page = (tmp_path / "out" / "lesson.html").read_text(encoding="utf-8")
    assert find_lesson("head-of-line").answer in page


@pytest.mark.usefixtures("no_clock")
def test_a_changed_experiment_has_no_page_that_ships(tmp_path: Path) -> None:
    done = run("head-of-line", "--seed", "7", "--out", str(tmp_path / "out"))
    assert done.exit_code != 0
    assert "x86-64 only" in done.stderr
    assert not (tmp_path / "out").exists()
