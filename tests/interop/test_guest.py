"""A guest of the real kernel: what it may do, and that it goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.interop import guests
from tests.interop.guests import made_hypervisor

from wirelab.clock.guest import TIMEOUT_VARIABLE, Command, Guest, GuestError, Hypervisor

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 60
HOUR = "3600"
SPIN = Command(("sh", "-c", "while :; do :; done"))
"""Never waits, so that the guest's clock stands still and it never ends."""
STARTER = """
import sys
from pathlib import Path
from tests.interop.guests import made_hypervisor
from tests.interop.test_guest import SPIN
from wirelab.clock.guest import Hypervisor
agent, memory, unit = map(Path, sys.argv[1:])
hypervisor = Hypervisor(agent, made_hypervisor(agent).kernel, memory)
hypervisor.start(unit, [SPIN], {}, 1).wait()
"""

pytestmark = pytest.mark.guest


@pytest.fixture
def hypervisor(agent_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hypervisor]:
    """Its guests leave nothing in the memory folder, which is the test's own, and no process."""
    made = made_hypervisor(agent_copy)
    memory = made.memory / f"wirelab-test-{os.getpid()}-{tmp_path.name}"
    memory.mkdir()
    monkeypatch.setenv(TIMEOUT_VARIABLE, str(TIMEOUT_S))
    try:
        yield replace(made, memory=memory)
        assert list(memory.iterdir()) == []
        assert _processes(tmp_path) == []
    finally:
        for left in _processes(tmp_path):
            os.kill(left, signal.SIGKILL)
        memory.rmdir()


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """A guest's own folder."""
    folder = tmp_path / "unit"
    folder.mkdir()
    return folder


def _processes(folder: Path) -> list[int]:
    """Of guests whose own folder is in this one, and what starts them; a process that is gone but not yet waited for
    has no environment.
    """
    found = []
    for process in Path("/proc").iterdir():
        try:
            said = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        except OSError:
            continue
        if process.name.isdecimal() and str(folder).encode() in said:
            found.append(int(process.name))
    return found


def _run(hypervisor: Hypervisor, unit: Path, script: str, *writable: Path) -> int:
    guest = hypervisor.start(unit, [Command(("sh", "-c", script))], {each: each for each in writable}, 1)
    try:
        [code] = guest.wait()
    finally:
        guest.end()
    return code


def test_a_guest_writes_in_its_folders_alone(hypervisor: Hypervisor, unit: Path, tmp_path: Path) -> None:
    mine, others = tmp_path / "mine", tmp_path / "others"
    mine.mkdir()
    others.mkdir()
    script = (
        f"echo here > {mine}/file && echo there > mine && touch {others}/memory && ! touch /etc/wirelab-root && exit 7"
    )
    assert _run(hypervisor, unit, script, mine) == 7, (unit / "stderr").read_text()
    assert ((mine / "file").read_text(), (unit / "mine").read_text()) == ("here\n", "there\n")
    assert "Read-only file system" in (unit / "stderr").read_text()
    assert list(others.iterdir()) == [], "it is in the guest's memory"
    assert not Path("/etc/wirelab-root").exists()


def test_a_root_that_mounts_the_machines_files_anew_cannot_write_them(
    hypervisor: Hypervisor, unit: Path, tmp_path: Path
) -> None:
    mine, others = tmp_path / "mine", tmp_path / "others"
    mine.mkdir()
    others.mkdir()
    kept = others / "kept"
    kept.write_text("kept")
    places = ("/etc/wirelab-mounted", f"{others}/new", f"{hypervisor.memory}/beside-its-own")
    tries = [f"! touch /mnt{place}" for place in places]
    tries += [f"! sh -c 'echo lost > /mnt{kept}'", f"! rm /mnt{kept}", f"! mkdir /mnt{others}/folder"]
    script = " && ".join(["mount -t hostfs -o / none /mnt", f"touch /mnt{mine}/file", f"test -e /mnt{kept}", *tries])
    assert _run(hypervisor, unit, script, mine) == 0, (unit / "stderr").read_text()
    assert (mine / "file").exists(), "that is how it would write"
    assert not any(Path(place).exists() for place in places)
    assert ([path.name for path in others.iterdir()], kept.read_text()) == (["kept"], "kept")


def test_an_hour_of_its_clock_is_over_at_once(hypervisor: Hypervisor, unit: Path) -> None:
    began = time.monotonic()
    assert _run(hypervisor, unit, f"date -u +%FT%H > begun; sleep {HOUR}; date -u +%FT%H > ended") == 0
    assert ((unit / "begun").read_text(), (unit / "ended").read_text()) == ("2026-01-01T00\n", "2026-01-01T01\n")
    assert time.monotonic() - began < TIMEOUT_S


def test_commands_run_one_after_the_other_with_their_exit_codes_and_signals(hypervisor: Hypervisor, unit: Path) -> None:
    commands = [
        Command(("sh", "-c", 'echo "$WORD"'), environment={"WORD": "said"}, stdout="first"),
        Command(("sh", "-c", "cat first >&2; exit 3"), stderr="second"),
        Command(("sh", "-c", "kill -9 $$")),
    ]
    guest = hypervisor.start(unit, commands, {}, 1)
    assert guest.wait() == [0, 3, -9]
    assert (unit / "second").read_text() == "said\n"


def test_a_guest_that_does_not_end_is_ended_and_names_what_spins(
    hypervisor: Hypervisor, unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TIMEOUT_VARIABLE, "5")
    guest = hypervisor.start(unit, [SPIN], {}, 1)
    with pytest.raises(GuestError, match="not over after 5 s and was ended; sh does not let its clock go on"):
        guest.wait()


def test_a_guest_that_is_no_longer_wanted_ends_at_once(hypervisor: Hypervisor, unit: Path) -> None:
    guest = _running(hypervisor, unit)
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(guest.wait)
        guest.end()
        with pytest.raises(GuestError, match="the process that started the guest ended"):
            waiting.result()


def test_a_guest_ends_with_the_agent_that_started_it(hypervisor: Hypervisor, unit: Path) -> None:
    guest = _running(hypervisor, unit)
    guest.process.kill()
    with pytest.raises(GuestError):
        guest.wait()
    _wait(lambda: not _processes(unit))
    # Nobody was left to remove its empty folder: the next guest does.
    after = unit.with_name("after")
    after.mkdir()
    assert _run(hypervisor, after, "true") == 0


def test_a_guest_ends_with_a_starter_that_is_killed(hypervisor: Hypervisor, unit: Path) -> None:
    words = [sys.executable, "-c", STARTER, str(hypervisor.agent), str(hypervisor.memory), str(unit)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'python'}:{ROOT}"}
    starter = subprocess.Popen(words, cwd=ROOT, env=environment)
    _wait(lambda: len(_processes(unit)) > 2)
    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()
    _wait(lambda: not _processes(hypervisor.memory))


def test_a_kernel_that_cannot_boot_is_reported_in_one_line(
    hypervisor: Hypervisor, unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = unit / "linux"
    broken.write_text("#!/bin/sh\necho first\necho no memory available\nexit 1\n")
    broken.chmod(0o755)
    hypervisor = replace(hypervisor, kernel=replace(hypervisor.kernel, path=broken))
    monkeypatch.setattr(guests, "made_hypervisor", lambda _agent: hypervisor)
    why = guests.cannot_boot.__wrapped__(hypervisor.agent)
    assert why is not None
    assert why.startswith("a guest cannot boot here: the guest ended before its script; its console: ")
    assert "no memory available" in why
    assert "\n" not in why


def test_a_command_that_cannot_be_started_is_named(hypervisor: Hypervisor, unit: Path) -> None:
    guest = hypervisor.start(unit, [Command(("no-such-program", "1"))], {}, 1)
    with pytest.raises(GuestError, match="no-such-program 1: starting it"):
        guest.wait()


def _running(hypervisor: Hypervisor, unit: Path) -> Guest:
    """A guest whose command has begun, and would not end."""
    command = replace(SPIN, command=("sh", "-c", f"touch begun; {SPIN.command[-1]}"))
    guest = hypervisor.start(unit, [command], {}, 1)
    _wait((unit / "begun").exists)
    return guest


def _wait(for_it: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not for_it():
        assert time.monotonic() < deadline
        time.sleep(0.02)
