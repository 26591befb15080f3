"""The checks of one program, with pairs that are not tried for real."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from wirelab.cli import check_implementation, main
from wirelab.metrics.pairs import FAILED, SUCCEEDED, UNSUPPORTED, Cell

OWN = """
[protocols.mine]
title = "Mine"
about = "A protocol."
transport = "tcp"
port = 7000
"""
PROGRAM = """
[{name}]
title = "One"
homepage = "https://example.org"
install = "it is here"
version_command = ["{python}", "--version"]
"""
CLIENT = """
[{name}.roles.client]
protocols = ["mine"]
workloads = ["telemetry"]
connections = ["new"]
command = ["{python}", "-c", "raise SystemExit({code})"]
"""
SERVER = """
[{name}.roles.server]
protocols = ["mine"]
workloads = ["telemetry"]
command = ["{python}"]
ready = "event"
"""


def program(name: str, *roles: str, code: int = 3) -> str:
    return "".join(text.format(name=name, python=sys.executable, code=code) for text in (PROGRAM, *roles))


def check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalogue: str, name: str, **came: Any
) -> tuple[Result, list[tuple[str, str]]]:
    """Check a program of this catalogue; who was paired with whom."""
    (tmp_path / "implementations.toml").write_text(OWN + catalogue)
    monkeypatch.chdir(tmp_path)
    paired: list[tuple[str, str]] = []

    def try_pairs(experiment: Any, folder: Path, beside: Path) -> list[Cell]:
        cells = []
        for each in experiment.scenarios:
            ends = each.implementation
            paired.append((ends["client"], ends["server"]))
            policy = each.workload.connection.policy
            cells.append(
                replace(
                    Cell(
                        each.protocol,
                        ends["client"],
                        ends["server"],
                        policy,
                        each.workload.message_bytes,
                        SUCCEEDED,
                        None,
                    ),
                    **came,
                )
            )
        return cells

    monkeypatch.setattr("wirelab.cli.check_implementation.try_pairs", try_pairs)
    return CliRunner().invoke(main, ["check-implementation", name], prog_name="wirelab"), paired


def test_a_users_program_with_both_roles_is_paired_with_itself_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, paired = check(tmp_path, monkeypatch, program("one", CLIENT, SERVER), "one")
    assert done.exit_code == 0, done.output
    assert set(paired) == {("one", "one")}
    assert len(paired) == 6
    assert "ok  mine, one: the server ends within 2 s of SIGTERM" in done.stdout
    assert done.stdout.splitlines()[-1] == "9 checks, 0 failed"


@pytest.mark.parametrize("name", ["one", "two"])
def test_two_programs_with_one_role_each_are_checked_together(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, paired = check(tmp_path, monkeypatch, program("one", CLIENT) + program("two", SERVER), name)
    assert done.exit_code == 0, done.output
    assert set(paired) == {("one", "two")}
    assert ("the server ends" in done.stdout) == (name == "two")
    assert ("refuses an unsupported protocol" in done.stdout) == (name == "one")


def test_a_program_without_a_peer_cannot_be_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, paired = check(tmp_path, monkeypatch, program("two", SERVER), "two")
    assert done.exit_code == 2
    assert not paired
    assert "two has no role that can be tested" in done.stderr


def test_undeclared_work_is_unsupported_and_not_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left_out = {"result": UNSUPPORTED, "reason": "one does not do connection = 'persistent'", "tried": False}
    done, _ = check(tmp_path, monkeypatch, program("one", CLIENT, SERVER), "one", **left_out)
    assert done.exit_code == 0
    assert (
        "unsupported  mine, one to one: 1 B, persistent connections: one does not do connection = 'persistent'"
        in done.stdout
    )
    assert done.stdout.splitlines()[-1] == "8 checks, 0 failed, 6 unsupported"


@pytest.mark.parametrize(
    "came",
    [
        {"result": UNSUPPORTED, "reason": "client: it says that it does not do this"},
        {"result": FAILED, "reason": "client: it says that it does not do this"},
    ],
)
def test_declared_work_must_succeed(came: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = check(tmp_path, monkeypatch, program("one", CLIENT, SERVER), "one", **came)
    assert done.exit_code == 1
    assert "no  mine, one to one: 1 B, new connections: client: it says that it does not do this" in done.stdout


def test_a_server_that_has_to_be_killed_fails_its_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = check(tmp_path, monkeypatch, program("one", CLIENT, SERVER), "one", server_end="it had to be killed")
    assert done.exit_code == 1
    assert "no  mine, one: the server ends within 2 s of SIGTERM: it had to be killed" in done.stdout


def test_a_client_that_accepts_unknown_work_fails_its_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = check(tmp_path, monkeypatch, program("one", CLIENT, SERVER, code=0), "one")
    assert done.exit_code == 1
    assert "no  refuses an unsupported protocol with exit code 3: exit code 0" in done.stdout
    assert "no  refuses an unsupported workload with exit code 3: exit code 0" in done.stdout


def test_a_client_that_does_not_end_fails_its_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_implementation, "REFUSAL_TIMEOUT_S", 0.1)
    waiting = CLIENT.replace("raise SystemExit({code})", "import time; time.sleep(60)")
    done, _ = check(tmp_path, monkeypatch, program("one", waiting, SERVER), "one")
    assert done.exit_code == 1
    assert "no  refuses an unsupported protocol with exit code 3: it does not end" in done.stdout


def test_an_unknown_program_and_one_that_is_not_installed_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, _ = check(tmp_path, monkeypatch, program("one", CLIENT, SERVER), "won")
    assert done.exit_code == 2
    assert "unknown implementation 'won'" in done.stderr
    absent = program("one", CLIENT, SERVER).replace(sys.executable, "no-such-program-here")
    done, _ = check(tmp_path, monkeypatch, absent, "one")
    assert done.exit_code == 2
    assert "no-such-program-here is not installed; it is here" in done.stderr
