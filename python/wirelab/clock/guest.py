"""A guest of the virtual clock's kernel: it boots, runs the commands of a script one after the other, and powers off.

Nobody talks to it. It sees this machine's files read-only, and may write in the folders that it is given. A command is
given what the guest needs to be the same wherever it runs: a seed, and where its clock begins.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from pathlib import Path

from wirelab.clock.kernel import Kernel
from wirelab.errors import RunError, WirelabError

MIB = 2**20
START_NS = 1_767_225_600 * 10**9
"""Where a guest's clock begins: 2026-01-01 00:00:00 UTC."""
MEMORY_MIB = 1024
"""What a guest may use; a page takes room only once it is written."""
ROOM_MIB = 256
"""What each guest needs in the folder for memory. Measured at their ends: 132 MiB with HTTP/1.1, 156 with HTTP/3, and
244 with RabbitMQ.
"""
HERE = Path("/run/wirelab/unit")
"""Where a guest sees its own folder."""
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
}
TIMEOUT_S = 600
"""Of this machine's time, by default."""
TIMEOUT_FACTOR = 4
"""What is expected is a processor's time, and others use it too."""
TIMEOUT_VARIABLE = "WIRELAB_GUEST_TIMEOUT"
KERNEL_ENDED = "the guest ended before its script"
"""What the agent says of it."""
_CLOSE_TIMEOUT_S = 10.0
MEMORY_VARIABLE = "WIRELAB_GUEST_MEMORY"


class GuestError(RunError):
    """A guest did not come to the end of its script."""


class GuestEndedError(GuestError):
    """Somebody else ended the guest, such as a scheduler that ends all processes of a job, or its kernel did."""


@dataclass(frozen=True)
class Command:
    """What a guest runs; its input and output are files in the guest's own folder."""

    command: tuple[str, ...]
    directory: Path = HERE
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: str | None = None
    stdout: str = "stdout"
    stderr: str = "stderr"

    def as_json(self) -> dict[str, object]:
        """As the agent reads it."""
        return {
            "command": self.command,
            "directory": str(self.directory),
            "environment": {**ENVIRONMENT, **self.environment},
            "stdin": None if self.stdin is None else str(HERE / self.stdin),
            "stdout": str(HERE / self.stdout),
            "stderr": str(HERE / self.stderr),
        }


@dataclass(frozen=True)
class Hypervisor:
    """What starts guests: the agent, the kernel, and the folder for their memory."""

    agent: Path
    kernel: Kernel
    memory: Path

    def start(  # noqa: PLR0913 (what runs in it, and what it is given)
        self,
        folder: Path,
        commands: Sequence[Command],
        writable: Mapping[Path, Path],
        seed: int,
        *,
        cpu: int | None = None,
        expected_s: float = 0.0,
    ) -> Guest:
        """Start a guest whose own folder this is, and which ends with this process.

        It is ended after a multiple of what it is expected to take of this machine's time, or after the default if that
        is longer; the user's variable comes first. `writable` has the folders in which it may write, each with the path
        that it has in the guest.
        """
        script = {
            "folders": [{"folder": str(path), "at": str(seen)} for path, seen in writable.items()],
            "commands": [each.as_json() for each in commands],
        }
        (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
        timeout_s = _timeout_s(expected_s)
        pinned = [] if cpu is None else [f"--cpu={cpu}"]
        process = subprocess.Popen(
            [
                self.agent, "guest", f"--kernel={self.kernel.path}", f"--unit={folder}", f"--memory={self.memory}",
                f"--memory-mib={MEMORY_MIB}", f"--seed={seed}", f"--start-ns={START_NS}",
                f"--timeout-s={timeout_s}", *pinned,
            ],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, process_group=0,
        )  # fmt: skip
        return Guest(folder, process)


@dataclass(frozen=True)
class Guest:
    """A guest that runs."""

    folder: Path
    process: subprocess.Popen[bytes]

    def wait(self) -> list[int]:
        """Wait until it is over; the exit codes of its commands. Raises `GuestError` if one could not be run, or the
        guest ended before.
        """
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        with self.process.stdin, self.process.stderr as said:
            words = said.read().decode(errors="replace").strip()
            status = self.process.wait()
        if status < 0 or KERNEL_ENDED in words:
            raise GuestEndedError(words or f"the guest was ended by {signal.Signals(-status).name}")
        if status:
            raise GuestError(words or f"wirelab-agent guest ended with {status}")
        ended = json.loads((self.folder / "result.json").read_text(encoding="utf-8"))
        if ended["error"] is not None:
            raise GuestError(ended["error"])
        return [each["exit_code"] if each["signal"] is None else -each["signal"] for each in ended["commands"]]

    def end(self) -> None:
        """End it now, with all that runs in it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _timeout_s(expected_s: float) -> int:
    """The seconds after which a guest is ended. Raises `WirelabError` if they were set to no number."""
    text = os.environ.get(TIMEOUT_VARIABLE, str(max(TIMEOUT_S, ceil(TIMEOUT_FACTOR * expected_s))))
    if not text.isdecimal() or int(text) == 0:
        raise WirelabError(f"{TIMEOUT_VARIABLE} is '{text}', not a number of seconds", hint="such as 3600")
    return int(text)


@cache
def memory_folder(guests: int = 1) -> Path:
    """A folder for the memory of so many guests at a time: it has room, and programs in it may be executed.

    Raises `WirelabError` with what each folder lacks.
    """
    named = os.environ.get(MEMORY_VARIABLE)
    usual = ("/dev/shm", os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/var/tmp")
    candidates = (named,) if named else usual
    lacking = []
    for folder in dict.fromkeys(map(Path, filter(None, candidates))):
        if (why := _unfit(folder, guests)) is None:
            return folder
        lacking.append(f"{folder} {why}")
    many, fewer = (f"{guests} guests", "run fewer trials at a time (--jobs), or ") if guests > 1 else ("a guest", "")
    raise WirelabError(
        f"no folder can hold the memory of {many}: {'; '.join(lacking)}",
        hint=f"{fewer}name a folder with {MEMORY_VARIABLE}: {guests * ROOM_MIB * MIB} B free, and not mounted noexec",
    )


def _unfit(folder: Path, guests: int) -> str | None:
    try:
        if os.statvfs(folder).f_flag & os.ST_NOEXEC:
            return "is mounted noexec"
        missing = guests * ROOM_MIB * MIB - shutil.disk_usage(folder).free
        if missing > 0:
            return f"lacks {missing} B"
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"cannot be written: {error.strerror}"


@dataclass(frozen=True)
class Ran:
    """What a command in a guest came to."""

    exit_code: int
    stdout: bytes
    stderr: bytes


def run_command(
    hypervisor: Hypervisor, command: Command, writable: Iterable[Path], seed: int, files: Mapping[str, bytes]
) -> Ran:
    """Run a command in a guest to its end. It may write in the folders `writable`, which have the same paths there;
    `files` are made in the guest's own folder before. Raises `GuestError`.
    """
    with tempfile.TemporaryDirectory(prefix="wirelab-guest-") as name:
        folder = Path(name)
        for file, content in files.items():
            (folder / file).write_bytes(content)
        guest = hypervisor.start(folder, [command], {each: each for each in writable}, seed)
        try:
            [code] = guest.wait()
        finally:
            guest.end()
        return Ran(code, (folder / command.stdout).read_bytes(), (folder / command.stderr).read_bytes())
