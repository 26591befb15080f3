"""The guest itself: what it may do, and that it goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.uml import guest
from tests.uml.needs import require_guest

ROOT = Path(__file__).parents[2]


def _processes(folder: Path) -> list[int]:
    """Of the guest's kernel: its command line names the folder."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if process.name.isdecimal() and f"uml_dir={folder}/".encode() in command:
            found.append(int(process.name))
    return found


def test_a_command_runs_with_netem_and_may_write_to_its_folder_alone(tmp_path: Path) -> None:
    require_guest()
    script = "test -d /sys/module/sch_netem && echo here > mine && ! touch /etc/not-mine && exit 7"
    finished = guest.run(tmp_path, ["sh", "-c", script], {}, 60)
    assert (finished.status, (tmp_path / "mine").read_text()) == (7, "here\n"), finished.output
    assert "Read-only file system" in finished.output
    assert not Path("/etc/not-mine").exists()
    assert _processes(tmp_path) == []


@pytest.mark.nightly
def test_a_guest_that_does_not_end_is_killed(tmp_path: Path) -> None:
    require_guest()
    with pytest.raises(guest.GuestError, match="no end"):
        guest.run(tmp_path, ["sleep", "1000"], {}, 5)
    assert _processes(tmp_path) == []
    assert not (tmp_path / "uml").exists()


@pytest.mark.nightly
def test_a_guest_ends_with_its_parent(tmp_path: Path) -> None:
    require_guest()
    call = f"guest.run(Path({str(tmp_path)!r}), ['sleep', '1000'], {{}}, 60)"
    script = f"from pathlib import Path; from tests.uml import guest; {call}"
    starter = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    deadline = time.monotonic() + 30
    while not _processes(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _processes(tmp_path)
    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()
    while _processes(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _processes(tmp_path) == []


def test_a_missing_file_or_failed_boot_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.uml"
    broken.write_text("#!/bin/sh\necho first\necho no memory available\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(guest, "KERNEL", str(broken))
    why = guest.cannot_boot.__wrapped__()
    assert why is not None
    assert "no memory available" in why
    assert "\n" not in why
    monkeypatch.setattr(guest, "KERNEL", "no-such-kernel")
    assert "no-such-kernel (Debian: user-mode-linux)" in (guest.not_installed() or "")
