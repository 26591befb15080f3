"""What every question needs: the agent, the instruments, a folder, who may run things, and how thorough to be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.peers import Peer, emulators
from bench.process import TIED, Place, User, users

_PREFIX = "wirelab-bench-"


@dataclass(frozen=True)
class Setup:
    """What a question gets."""

    agent: Path
    """A copy that anybody may execute, so that neither a build nor a home's permissions come in between."""
    instruments: Path
    """`wirelab-bench`, copied likewise."""
    folder: Path
    users: tuple[User, ...]
    scheduling: dict[str, str]
    """What the link's thread gets, by the user's name: fifo, slice or default."""
    peers: tuple[Peer, ...]
    """Those that are here, Wirelab first."""
    absent: tuple[str, ...]
    """A line for each that is not."""
    quick: bool
    """A tenth of the work: to see that it works, not what it gives."""

    def count(self, thorough: int) -> int:
        """So many packets, or a tenth."""
        return max(thorough // 10, 1) if self.quick else thorough

    def seconds(self, thorough: float) -> float:
        """So long, or a tenth."""
        return max(thorough / 10, 0.3) if self.quick else thorough

    @contextmanager
    def place(self, user: User) -> Iterator[Place]:
        """A folder for one measurement, where this user may write; removed at its end."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            path = Path(name)
            path.chmod(0o755)
            user.own(path)
            yield Place(user, path)


@contextmanager
def make_setup(agent: Path, instruments: Path, *, quick: bool) -> Iterator[Setup]:
    """Look at the machine; everything temporary is gone at the end, or at the next start if this process is killed."""
    _remove_what_killed_ones_left()
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        copy = _copy(agent, folder)
        peers = emulators(copy)
        missing = {peer.name: peer.missing() for peer in peers}
        yield Setup(
            agent=copy,
            instruments=_copy(instruments, folder),
            folder=folder,
            users=tuple(users()),
            scheduling={user.name: _scheduling(copy, user) for user in users()},
            peers=tuple(peer for peer in peers if missing[peer.name] is None),
            absent=tuple(f"{name}: {why}" for name, why in missing.items() if why is not None),
            quick=quick,
        )


def _copy(program: Path, folder: Path) -> Path:
    copy = folder / program.name
    shutil.copy2(program, copy)
    copy.chmod(0o755)
    return copy


def first_cpu() -> int | None:
    """The CPU that endpoints use; none where there is only one."""
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[0] if len(cpus) > 1 else None


def _scheduling(agent: Path, user: User) -> str:
    """As `wirelab doctor` tells it; the agent exits with 1 where anything at all is refused."""
    command = [*TIED, str(agent), "probe"]
    done = subprocess.run(command, user=user.uid, group=user.uid, capture_output=True, check=False)
    details = {check["name"]: str(check["detail"]) for check in json.loads(done.stdout or "[]")}
    return details.get("scheduling", "unknown").partition(":")[0]


def _remove_what_killed_ones_left() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        process = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if folder.stat().st_uid == os.geteuid() and not Path("/proc", process).exists():
            shutil.rmtree(folder, ignore_errors=True)
