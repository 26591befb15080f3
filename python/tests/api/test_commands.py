"""Verbs as functions: their command line, their errors, and what they leave."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import wirelab
from wirelab.api import commands

PAGE = "results/here/report.html"


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python that writes its arguments down, says `says`, prints `prints` and a page, and ends as `ends` says."""
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\nhere = pathlib.Path({str(tmp_path)!r})\n"
        "here.joinpath('called').write_text('\\n'.join(sys.argv[1:]))\n"
        "print('1/2 trials', file=sys.stderr)\n"
        "said = here / 'says'\nsys.stderr.buffer.write(said.read_bytes() if said.exists() else b'')\n"
        "prints = here / 'prints'\nends = here / 'ends'\ncode = int(ends.read_text()) if ends.exists() else 0\n"
        "print(prints.read_text() if prints.exists() else '' if code else f'Report  {PAGE}')\nsys.exit(code)\n".replace(
            "{PAGE}", PAGE
        )
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(commands.sys, "executable", str(program))
    monkeypatch.setattr(commands, "load", lambda folder: folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(folder: Path) -> list[str]:
    return (folder / "called").read_text().splitlines()


def test_options_and_levels_become_words(called: Path) -> None:
    found = wirelab.run("mine.toml", sets={"link.rtt": ["20 ms", "50 ms"], "protocol.x": [True, False]}, jobs=2,
                        fresh=True, no_probes=False, clock=None, fail_if=["p95 > 1 s", "median > 1 s"])  # fmt: skip
    assert words(called) == [
        "-m", "wirelab", "run", "mine.toml", "--set", "link.rtt=20 ms,50 ms", "--set", "protocol.x=true,false",
        "--jobs", "2", "--fresh", "--fail-if", "p95 > 1 s", "--fail-if", "median > 1 s",
    ]  # fmt: skip
    assert found == Path(PAGE).parent
    wirelab.run("quickstart", out=called / "here")
    assert words(called)[-2:] == ["--out", str(called / "here")]


def test_each_line_is_said_while_it_runs_and_an_error_of_the_listener_ends_nothing_early(called: Path) -> None:
    said: list[str] = []
    (called / "says").write_bytes(b"no UTF-8: \xff\n" + b"a long line\n" * 20_000)
    wirelab.run("quickstart", progress=said.append)
    assert (said[0], len(said)) == ("1/2 trials", 20_002)

    def broken(line: str) -> None:
        raise LookupError(line)

    with pytest.raises(LookupError, match="1/2 trials"):
        wirelab.run("quickstart", progress=broken)


@pytest.mark.parametrize(("code", "kind"), [(1, wirelab.RunError), (2, wirelab.WirelabError)])
@pytest.mark.parametrize("printed", ["", "a table\nReport  results/x/report.html"])
def test_an_error_is_raised_without_the_progress_before_it(
    called: Path, code: int, kind: type[Exception], printed: str
) -> None:
    (called / "ends").write_text(str(code))
    (called / "prints").write_text(printed)
    (called / "says").write_text("error: no link 'x'\nhint: did you mean 'y'?")
    with pytest.raises(kind) as raised:
        wirelab.run("quickstart")
    assert type(raised.value) is kind
    assert str(raised.value) == "error: no link 'x'\nhint: did you mean 'y'?"


@pytest.mark.parametrize("code", [4, 5, 6])
def test_a_verdict_by_exit_code_raises_nothing(called: Path, code: int) -> None:
    (called / "ends").write_text(str(code))
    (called / "prints").write_text(f"a table\nReport  {PAGE}")
    assert wirelab.run("quickstart") == Path(PAGE).parent


def test_an_answer_is_what_is_printed_with_its_record(called: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "read_chosen", lambda path: {"from": path})
    monkeypatch.setattr(commands, "read_exact", lambda path: {"from": path})
    (called / "prints").write_text("First: coaps <new>\nPage    results/choose-x/choose.html")
    # That nothing can be ranked is an answer too.
    (called / "ends").write_text("1")
    found = wirelab.choose(link="nb-iot-psm", protocols=["coaps", "mqtts"])
    assert words(called)[3:] == ["--link", "nb-iot-psm", "--protocols", "coaps,mqtts"]
    assert str(found).startswith("First: coaps <new>")
    assert found.record["from"] == Path("results/choose-x/choose.json")
    assert "coaps &lt;new&gt;" in found._repr_html_()
    (called / "ends").write_text("0")
    (called / "prints").write_text("P(delay > 1 s)\nPage    results/exact-message/exact.html")
    tails = wirelab.exact(protocols="coap,h2", link="20 ms", loss=["1 %", "2 %"])
    assert words(called)[3:] == [
        "--protocols", "coap,h2", "--link", "20 ms", "--loss", "1 %", "--loss", "2 %",
    ]  # fmt: skip
    assert tails.page == Path("results/exact-message/exact.html")


def test_a_cancelled_call_cancels_the_command_once_and_waits_for_its_end(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\nimport pathlib, time\nhere = pathlib.Path({str(tmp_path)!r})\n"
        "try:\n    (here / 'began').touch()\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    (here / 'cancelled').open('a').write('once ')\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    script = f"import sys, wirelab; sys.executable = {str(program)!r}; wirelab.run('quickstart')"
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, start_new_session=True) as caller:
        for _ in range(600):
            if (tmp_path / "began").exists():
                break
            time.sleep(0.05)
        os.killpg(caller.pid, signal.SIGINT)
        _, said = caller.communicate(timeout=30)
    assert b"KeyboardInterrupt" in said
    assert (tmp_path / "cancelled").read_text() == "once "
