"""`wirelab doctor`."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirelab.cli import main

GOOD = {"name": "veth", "ok": True, "optional": False, "detail": "made two veths", "cure": None}
BAD = {
    "name": "user-namespace", "ok": False, "optional": False, "detail": "EPERM",
    "cure": "install the profile\nthen log in again",
}  # fmt: skip


def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checks: list[dict[str, object]], *arguments: str) -> Result:
    agent = tmp_path / "wirelab-agent"
    status = int(not all(check["ok"] or check["optional"] for check in checks))
    agent.write_text(f"#!/usr/bin/env python3\nprint({json.dumps(checks)!r})\nraise SystemExit({status})\n")
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("WIRELAB_AGENT", str(agent))
    return CliRunner().invoke(main, ["doctor", *arguments], prog_name="wirelab")


def test_a_machine_that_allows_everything_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = doctor(tmp_path, monkeypatch, [GOOD])
    assert done.exit_code == 0
    assert "ok  veth  made two veths" in done.stdout


def test_a_failed_check_has_its_fix_and_exits_with_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = doctor(tmp_path, monkeypatch, [GOOD, BAD])
    assert done.exit_code == 1
    lines = [line.strip() for line in done.stdout.splitlines()]
    place = lines.index("no  user-namespace  EPERM")
    assert lines[place + 1 : place + 3] == ["install the profile", "then log in again"]


def test_optional_checks_are_reported_and_do_not_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = {"name": "ipv6", "ok": False, "optional": True, "detail": "switched off", "cure": "switch it on"}
    done = doctor(tmp_path, monkeypatch, [GOOD, without])
    assert done.exit_code == 0
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[lines.index("-   ipv6  switched off") + 1] == "switch it on"


def test_third_party_programs_are_listed_with_their_version_or_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wirelab.runner.implementations.find_program", lambda _: None)
    done = doctor(tmp_path, monkeypatch, [GOOD])
    assert re.search(r"-   curl +not installed: apt install curl", done.stdout)
    assert done.exit_code == 0


def test_json_has_the_same_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = doctor(tmp_path, monkeypatch, [GOOD, BAD], "--json")
    assert done.exit_code == 1
    reported = json.loads(done.stdout)
    assert reported["checks"] == [GOOD, BAD]
    assert set(reported["programs"]) >= {"curl", "nginx"}


def test_a_missing_agent_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIRELAB_AGENT", str(tmp_path / "nothing"))
    done = CliRunner().invoke(main, ["doctor"], prog_name="wirelab")
    assert done.exit_code == 1
    assert "which is not an executable file" in done.stderr


def test_the_version_is_short_in_the_table_and_complete_in_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1 OpenSSL/3.0.17 zlib/1.2.13 brotli/1.0.9 zstd/1.5.4"
    monkeypatch.setattr("wirelab.runner.implementations.version", lambda _: said)
    assert re.search(r"^ok  curl +curl 7.88.1$", doctor(tmp_path, monkeypatch, [GOOD]).stdout, re.MULTILINE)
    assert json.loads(doctor(tmp_path, monkeypatch, [GOOD], "--json").stdout)["programs"]["curl"] == said
