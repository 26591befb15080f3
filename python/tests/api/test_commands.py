"""Verbs as functions: their command line, their errors, and what they leave."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

import wirelab
from wirelab.api import commands


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python that writes its arguments down, says a line, and prints what is in `prints` or ends as `ends` says."""
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\nhere = pathlib.Path({str(tmp_path)!r})\n"
        "here.joinpath('called').write_text('\\n'.join(sys.argv[1:]))\n"
        "print('1/2 trials', file=sys.stderr)\n"
        "said = here / 'says'\nprint(said.read_text() if said.exists() else '', file=sys.stderr)\n"
        "prints = here / 'prints'\nprint(prints.read_text() if prints.exists() else '', end='')\n"
        "ends = here / 'ends'\nsys.exit(int(ends.read_text()) if ends.exists() else 0)\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(commands.sys, "executable", str(program))
    monkeypatch.setattr(commands, "load", lambda folder: folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(folder: Path) -> list[str]:
    return (folder / "called").read_text().splitlines()


def test_options_and_levels_become_words(called: Path) -> None:
    found = wirelab.run("mine.toml", sets={"link.rtt": ["20 ms", "50 ms"], "protocol.x": True}, jobs=2, fresh=True,
                        no_probes=False, clock=None)  # fmt: skip
    assert words(called) == [
        "-m", "wirelab", "run", "mine.toml", "--set", "link.rtt=20 ms,50 ms", "--set", "protocol.x=true",
        "--jobs", "2", "--fresh", "--out", "results/mine",
    ]  # fmt: skip
    assert found == Path("results/mine")


def test_a_quick_run_has_a_folder_of_its_own(called: Path) -> None:
    assert wirelab.run("quickstart", budget="30s") == Path("results/quickstart-preview")
    assert wirelab.run("quickstart", budget="30s", out=called / "here") == called / "here"


def test_each_line_is_said_while_it_runs(called: Path) -> None:
    said: list[str] = []
    wirelab.run("quickstart", progress=said.append)
    assert said[0] == "1/2 trials"


@pytest.mark.parametrize(("code", "kind"), [(1, wirelab.RunError), (2, wirelab.WirelabError)])
def test_an_error_is_raised_without_the_progress_before_it(called: Path, code: int, kind: type[Exception]) -> None:
    (called / "ends").write_text(str(code))
    (called / "says").write_text("error: no link 'x'\nhint: did you mean 'y'?")
    with pytest.raises(kind) as raised:
        wirelab.run("quickstart")
    assert type(raised.value) is kind
    assert str(raised.value) == "error: no link 'x'\nhint: did you mean 'y'?"


def test_a_verdict_by_exit_code_is_no_error(called: Path) -> None:
    (called / "ends").write_text("4")
    (called / "prints").write_text("a table")
    assert wirelab.run("quickstart") == Path("results/quickstart")


def test_an_answer_is_what_is_printed_with_its_record(called: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "read_chosen", lambda path: {"from": path})
    monkeypatch.setattr(commands, "read_exact", lambda path: {"from": path})
    (called / "prints").write_text("First: coaps <new>")
    found = wirelab.choose(link="nb-iot-psm", protocols=["coaps", "mqtts"])
    assert words(called)[3:] == [
        "--link",
        "nb-iot-psm",
        "--protocols",
        "coaps,mqtts",
        "--out",
        "results/choose-nb-iot-psm",
    ]
    assert (str(found), found.record["from"]) == ("First: coaps <new>", Path("results/choose-nb-iot-psm/choose.json"))
    assert "coaps &lt;new&gt;" in found._repr_html_()
    tails = wirelab.exact(protocols="coap,h2", link="20 ms", send="30B")
    assert words(called)[3:] == [
        "--protocols",
        "coap,h2",
        "--link",
        "20 ms",
        "--send",
        "30B",
        "--out",
        "results/exact-message",
    ]
    assert tails.page == Path("results/exact-message/exact.html")
