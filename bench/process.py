"""Starts what the bench measures, such that nothing of it outlives the bench, however that ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534
TIED = ("setpriv", "--pdeathsig", "KILL", "--")
"""Words before a command that dies with this process."""


class FailedError(Exception):
    """A program of the bench failed; the message is for people."""


FAILURES = (FailedError, OSError, ValueError, LookupError, subprocess.SubprocessError)
"""What a measurement may raise: its programs fail, or say what cannot be read. Its targets are then not measured."""


@dataclass(frozen=True)
class User:
    """Who runs a measurement."""

    name: str
    uid: int | None
    """None: the user who runs the bench."""

    @property
    def is_root(self) -> bool:
        """True if it may use SCHED_FIFO."""
        return self.uid is None and os.geteuid() == 0

    def own(self, path: Path) -> None:
        """Let this user write here."""
        if self.uid is not None:
            os.chown(path, self.uid, self.uid)


@dataclass(frozen=True)
class Place:
    """Who measures, and in which folder."""

    user: User
    folder: Path


def users() -> list[User]:
    """Root and nobody, or the user who runs the bench if that is not root."""
    if os.geteuid() == 0:
        return [User("root", None), User("nobody", NOBODY)]
    return [User("user", None)]


def run(
    command: Sequence[str],
    place: Place,
    timeout_s: float,
    descriptors: Sequence[int] = (),
    environment: dict[str, str] | None = None,
) -> str:
    """Run a command to its end; returns its stdout. It is killed with this process, and at the time-out."""
    out, err = place.folder / "out.txt", place.folder / "err.txt"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        # A group of its own: Ctrl-C reaches the bench alone, which then ends what it started.
        process = subprocess.Popen(
            [*TIED, *command], cwd=place.folder, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
            stdout=stdout, stderr=stderr, process_group=0, pass_fds=tuple(descriptors), user=place.user.uid,
            group=place.user.uid, extra_groups=None if place.user.uid is None else [],
        )  # fmt: skip
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise FailedError(
                f"{_name(command)} did not end within {timeout_s:.0f} s: {_last_words(err, out)}"
            ) from None
        finally:
            end(process)
    if code != 0:
        raise FailedError(f"{_name(command)} ended with {code}: {_last_words(err, out)}")
    return out.read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def spinner(cpu: int | None) -> Iterator[None]:
    """Keep one CPU busy meanwhile; none if there is no CPU to keep busy."""
    if cpu is None:
        yield
        return
    process = subprocess.Popen([*TIED, "sh", "-c", "while :; do :; done"], stdin=subprocess.DEVNULL, process_group=0)
    try:
        os.sched_setaffinity(process.pid, {cpu})
        yield
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill what was started, with its group, if it still runs."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _name(command: Sequence[str]) -> str:
    return " ".join(Path(word).name for word in command[:2])


def _last_words(*paths: Path) -> str:
    """Of the first of these that has any."""
    said = (path.read_text(encoding="utf-8", errors="replace").strip().splitlines() for path in paths)
    return next((" | ".join(lines[-3:]) for lines in said if lines), "it said nothing")
