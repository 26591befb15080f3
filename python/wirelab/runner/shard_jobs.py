"""One shard as a process of its own, whatever scheduler starts it: once done it is not run again, also if it is started
twice.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import RunError
from wirelab.schema.replaced import replaced

DONE = "shard-done"
"""File in the folder of a shard that was run to its end."""
WAIT_S, LONGEST_WAIT_S = 1.0, 3600.0
"""For another process that runs the same shard."""
LAST_WORDS = 2000


@dataclass(frozen=True)
class ShardJob:
    """The command line of a shard without its folder, and where it is run."""

    shard: str
    words: Sequence[str]
    folder: Path
    cwd: Path
    cpu: int | None = None
    """The processor that it keeps to."""


def is_done(folder: Path) -> bool:
    """Whether a shard was run to its end there."""
    return (folder / DONE).is_file()


def run_shard_job(job: ShardJob) -> str:
    """Run a shard unless it is done. Gives its name. Raises `RunError` with the last words of a run that failed, and if
    it cannot be started here, such as without the folder.

    The process ends with its parent (PR_SET_PDEATHSIG), so that a worker that is killed leaves none behind.
    """
    try:
        _run(job)
    except OSError as error:
        raise RunError(f"shard {job.shard} cannot be run here: {error}") from None
    return job.shard


def _run(job: ShardJob) -> None:
    began = time.monotonic()
    while not is_done(job.folder):
        done = subprocess.run(
            [*_ends_with_parent(), *_keeps_to(job.cpu), *_command(job)],
            cwd=job.cwd,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if done.returncode == 0:
            _mark(job.folder)
        elif "is in use by another process" in done.stderr and time.monotonic() - began < LONGEST_WAIT_S:
            # The same shard, started twice by a scheduler: the other one's result counts.
            time.sleep(WAIT_S)
        else:
            raise RunError(f"shard {job.shard} failed: {done.stderr.strip()[-LAST_WORDS:] or done.returncode}")


def _mark(folder: Path) -> None:
    """Written in one step and on the disk, folder included: a result that is there is whole."""
    with replaced(folder / DONE) as fresh, fresh.open("wb") as file:
        file.write(b"done\n")
        file.flush()
        os.fsync(file.fileno())
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _command(job: ShardJob) -> list[str]:
    return [sys.executable, "-m", "wirelab", *job.words, "--out", str(job.folder)]


def _ends_with_parent() -> list[str]:
    program = shutil.which("setpriv")
    return [] if program is None else [program, "--pdeathsig", signal.SIGTERM.name.removeprefix("SIG")]


def _keeps_to(cpu: int | None) -> list[str]:
    program = shutil.which("taskset")
    return [] if cpu is None or program is None else [program, "--cpu-list", str(cpu)]
