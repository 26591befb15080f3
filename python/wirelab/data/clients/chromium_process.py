"""Headless Chromium as a process: its flags, and a guard that ends it and removes its profile.

The guard is the parent of every process of the browser and lives on its stdin: when whoever started it dies, however
that happens, stdin ends, and the guard kills them all and removes the profile. The end of a trial takes its PID
namespace, and with it the guard and the browser.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from says_ready import TIED

HINT = "apt-get install chromium"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--no-default-browser-check",
    # What a browser says of its own accord: updates, models, reports, accounts.
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--disable-domain-reliability", "--disable-client-side-phishing-detection", "--disable-extensions",
    "--disable-breakpad", "--metrics-recording-only", "--no-pings", "--password-store=basic",
    # HttpsUpgrades: it would try TLS at a port of HTTP first.
    "--disable-features=DnsOverHttpsUpgrade,HttpsUpgrades,MediaRouter,OptimizationHints,Translate",
    # No experiments that change from installation to installation.
    "--disable-field-trial-config",
    # A page in the background is held back.
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
)  # fmt: skip
END_TIMEOUT_S = 20
_PR_SET_CHILD_SUBREAPER = 36
_TO_BROWSER, _FROM_BROWSER = 3, 4
_HIGH = 64


def find_chromium() -> str | None:
    """Where it is; none if it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A running browser with a new profile; `reading` and `writing` are its DevTools pipe."""

    def __init__(self, program: str, profile: Path, flags: Sequence[str], words: IO[str]) -> None:
        to_browser, self.writing = os.pipe()
        self.reading, from_browser = os.pipe()
        self._guard = subprocess.Popen(
            [
                sys.executable, __file__, str(profile), str(to_browser), str(from_browser),
                program, *FLAGS, f"--user-data-dir={profile}", "--remote-debugging-pipe", *flags,
            ],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=words, pass_fds=(to_browser, from_browser),
            env={**os.environ, "HOME": str(profile), "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._guard.communicate(timeout=END_TIMEOUT_S)
        os.close(self.reading)
        os.close(self.writing)


def guard(profile: Path, to_browser: int, from_browser: int, command: Sequence[str]) -> None:
    """Keep a browser until stdin ends or it does; then nothing of it is left."""
    for stop in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # Meant for who started this, whose end is noticed. No SIG_IGN, which children would inherit.
        signal.signal(stop, lambda *_: None)
    # Crash handlers leave their session and their parent.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    profile.mkdir(parents=True)
    # It leaves a socket behind when it is killed, whose path must be short: the profile's may be long.
    temporary = tempfile.mkdtemp(prefix="chromium-")
    try:
        _keep(to_browser, from_browser, command, temporary)
    finally:
        shutil.rmtree(profile, ignore_errors=True)
        shutil.rmtree(temporary, ignore_errors=True)


def _keep(to_browser: int, from_browser: int, command: Sequence[str], temporary: str) -> None:
    # Where the browser looks for them; one of the two may stand there already.
    high = [fcntl.fcntl(number, fcntl.F_DUPFD, _HIGH) for number in (to_browser, from_browser)]
    for number, place in zip(high, (_TO_BROWSER, _FROM_BROWSER), strict=True):
        os.dup2(number, place)
    browser = subprocess.Popen(
        [*TIED, *command], stdin=subprocess.DEVNULL, pass_fds=(_TO_BROWSER, _FROM_BROWSER), start_new_session=True,
        env={**os.environ, "TMPDIR": temporary},
    )  # fmt: skip
    os.closerange(_TO_BROWSER, max(high) + 1)
    pid = os.pidfd_open(browser.pid)
    select.select([sys.stdin, pid], [], [])
    with suppress(ProcessLookupError):
        os.killpg(browser.pid, signal.SIGKILL)
    _end_children()


def _end_children() -> None:
    """Kill every child until there is none: whose parent dies is the next child."""
    while True:
        for child in _children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def _children() -> list[int]:
    """Those of this process; none where `/proc` is of another PID namespace, in which their numbers mean others."""
    own = Path("/proc/self")
    if own.readlink() != Path(str(os.getpid())):
        return []
    return [int(child) for child in (own / "task" / own.readlink() / "children").read_text().split()]


if __name__ == "__main__":
    guard(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
