"""How `wirelab link` ends, and the terminal that it gives to its command."""

from __future__ import annotations

import os
import pty
import select
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.interop.link_commands import LINK, PATIENCE_S, python, until, words_of

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

LINGER = """
import signal, subprocess, time
{how}
subprocess.Popen(["setsid", "sleep", "1000"])
print("begun", flush=True)
time.sleep(1000)
"""


def started(bench: Bench, how: str = "pass") -> subprocess.Popen[str]:
    """A link with a server and a command, both with children that left their sessions."""
    server = "sh -c 'setsid sleep 1000 & sleep 1000'"
    process = bench.start(
        "link", "clean", "--server", server, "--server-ready", "0.1", "--", *python(LINGER.format(how=how))
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def test_a_killed_link_leaves_nothing(bench: Bench) -> None:
    process = started(bench)
    assert len(bench.processes()) >= 6
    process.kill()
    words_of(process)
    until(lambda: not bench.processes(), "the end of every process")
    bench.assert_nothing_left()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_reaches_the_command_and_the_rest_ends_with_it(bench: Bench, how: signal.Signals) -> None:
    # The parent of the tests may ignore it, as nohup does.
    process = started(bench, f"signal.signal({int(how)}, signal.SIG_DFL)")
    process.send_signal(how)
    _, words = words_of(process)
    assert process.returncode == 128 + how
    assert "wirelab: seed" in words
    bench.assert_nothing_left()


def test_a_command_that_ignores_sigterm_is_killed(bench: Bench) -> None:
    process = started(bench, "signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    process.terminate()
    words_of(process)
    assert process.returncode == 128 + signal.SIGKILL
    bench.assert_nothing_left()


def test_processes_left_by_a_command_end_with_it(bench: Bench) -> None:
    code, _, _ = bench.run("link", "clean", "--", "sh", "-c", "setsid sleep 1000 & sleep 0.1")
    assert code == 0
    bench.assert_nothing_left()


def test_without_namespaces_the_fix_is_named(bench: Bench) -> None:
    bench.temporary.mkdir()
    forbid = "echo 0 > /proc/sys/user/max_user_namespaces; echo 0 > /proc/sys/user/max_net_namespaces"
    command = f"{forbid}; exec {shlex.join([*LINK, 'clean', '--', 'echo', 'never'])}"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", command],
        capture_output=True, text=True, check=False,
        env={**os.environ, "WIRELAB_AGENT": str(bench.agent), "PYTHONPATH": str(Path(__file__).parents[2] / "python")},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith("error: this machine does not let an ordinary user make namespaces (")
    assert done.stderr.endswith("\nhint: `sudo sysctl user.max_user_namespaces=10000`\n")


SLEEP = """sh -c 'echo be""gun; exec sleep 1000'"""
"""A command that Ctrl-C ends whenever it comes.

Python would miss one that comes while the kernel restarts its sleep after a stop: its handler runs, and it sleeps on.
"""


class Screen:
    """A shell on a terminal of its own."""

    def __init__(self, bench: Bench) -> None:
        environment = {
            **os.environ, "WIRELAB_AGENT": str(bench.agent), "PYTHONPATH": str(Path(__file__).parents[2] / "python"),
            "PS1": "outside> ", "WIRELAB_TEST_MARK": bench.mark, "TERM": "dumb", "SHELL": "/bin/sh",
        }  # fmt: skip
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)
        self.seen = ""

    def expect(self, text: str) -> str:
        """Wait until the terminal shows `text`; what it showed up to that."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.seen:
            assert time.monotonic() < deadline, f"no {text!r} in {self.seen!r}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.seen += os.read(self.terminal, 4096).decode(errors="replace")
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def bring_to_the_foreground(self) -> None:
        """`fg`, until the shell has handed over the terminal: before, it shows the job and keeps a Ctrl-C to itself."""
        shell = os.tcgetpgrp(self.terminal)
        self.type("fg\n")
        self.expect("sleep 1000")
        until(lambda: os.tcgetpgrp(self.terminal) != shell, "a job in the foreground")

    def close(self) -> None:
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def test_a_command_gets_the_terminal_with_job_control(bench: Bench) -> None:
    bench.temporary.mkdir()
    screen = Screen(bench)
    link = shlex.join([*LINK, "clean", "--"])
    screen.expect("outside> ")
    screen.type(f"{link} {SLEEP}\n")
    screen.expect("begun")
    screen.type("\x1a")
    screen.expect("Stopped")
    screen.expect("outside> ")
    screen.type("bg\n")
    screen.expect(" &")
    screen.bring_to_the_foreground()
    screen.type("\x1a")
    screen.expect("Stopped")
    screen.expect("outside> ")
    screen.bring_to_the_foreground()
    screen.type("\x03")
    screen.expect("wirelab: seed")
    screen.type("echo code=$?\n")
    screen.expect("code=130")
    screen.expect("outside> ")
    screen.close()
    until(lambda: not bench.processes(), "the end of every process")


def test_a_shell_behind_a_link_controls_its_own_jobs(bench: Bench) -> None:
    bench.temporary.mkdir()
    screen = Screen(bench)
    screen.expect("outside> ")
    screen.type(shlex.join([*LINK, "clean"]) + "\n")
    screen.expect("not the internet either")
    screen.expect("outside> ")
    screen.type("PS1='in''side> '\n")
    screen.expect("inside> ")
    screen.type(f"{SLEEP}\n")
    screen.expect("begun")
    screen.type("\x1a")
    screen.expect("Stopped")
    screen.expect("inside> ")
    screen.bring_to_the_foreground()
    screen.type("\x03")
    screen.expect("inside> ")
    screen.type("exit 7\n")
    screen.expect("wirelab: seed")
    screen.expect("outside> ")
    screen.type("echo code=$?\n")
    screen.expect("code=7")
    screen.close()
    until(lambda: not bench.processes(), "the end of every process")
