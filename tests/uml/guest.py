"""A User-Mode Linux guest: a kernel of its own, as one process without privileges, that runs one command and ends.

It sees this machine's files read-only, and one folder, under the same path, for writing. It has one CPU, no network
and the modules that Debian's package brings. Waiting in it is real time. `python -m tests.uml.guest FOLDER COMMAND...`
runs a command in one by hand.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

KERNEL = "linux.uml"
MODULES = Path("/usr/lib/uml/modules")
WANTED = (
    "kernel/drivers/net/veth.ko", "kernel/net/sched/sch_netem.ko", "kernel/net/sched/sch_tbf.ko",
)  # fmt: skip
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
MEMORY_MIB = 512
BOOT_S = 60
"""A boot takes 2 s; a busy machine gets this."""
STATUS = "status"
_GRACE_S = 5


class GuestError(Exception):
    """The guest did not run its command to the end."""


@dataclass(frozen=True)
class Finished:
    """What the command came to."""

    status: int
    output: str
    wall_s: float
    """Boot included."""


def not_installed() -> str | None:
    """Which program is missing; none if a guest can be started."""
    programs = ((KERNEL, "user-mode-linux"), ("insmod", "kmod"), ("setpriv", "util-linux"), ("mount", "mount"))
    missing = [f"{name} (Debian: {package})" for name, package in programs if shutil.which(name, path=_path()) is None]
    if not missing and not any(MODULES.glob(f"*/{WANTED[0]}")):
        missing = [f"{MODULES}/*/{WANTED[0]}"]
    return f"not installed: {', '.join(missing)}" if missing else None


@cache
def cannot_boot() -> str | None:
    """Why an installed guest does not come up on this machine; none if it does."""
    with tempfile.TemporaryDirectory(prefix="wirelab-guest-") as folder:
        try:
            finished = run(Path(folder), ["true"], {}, BOOT_S)
        except GuestError as error:
            return str(error)
    return None if finished.status == 0 else f"`true` ends with {finished.status}: {finished.output.strip()}"


def run(folder: Path, command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> Finished:
    """Boot, run a command in `folder`, and power off. Raises `GuestError` if that takes longer or goes wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    (folder / STATUS).unlink(missing_ok=True)
    script = folder / "init"
    script.write_text(_init(folder, command, environment, timeout_s))
    script.chmod(0o755)
    output = folder / "output"
    output.write_bytes(b"")
    began = time.monotonic()
    console = _boot(folder, script, timeout_s)
    wall_s = time.monotonic() - began
    status = folder / STATUS
    if not status.exists():
        last = [line.strip() for line in console.splitlines() if line.strip()][-2:]
        raise GuestError(
            f"no end after {wall_s:.0f} s of {timeout_s:.0f}; its console: {' | '.join(last) or 'nothing'}"
        )
    return Finished(int(status.read_text()), output.read_text(errors="replace"), wall_s)


def _boot(folder: Path, script: Path, timeout_s: float) -> str:
    """Returns the console."""
    run_files = folder / "uml"
    run_files.mkdir(exist_ok=True)
    kernel = [
        KERNEL, f"mem={MEMORY_MIB}M", "rootfstype=hostfs", "rootflags=/", "ro", "quiet", f"init={script}",
        "con=null", "con0=fd:0,fd:1", f"uml_dir={run_files}/",
    ]  # fmt: skip
    shared = Path("/dev/shm")
    roomy = shared.is_dir() and shutil.disk_usage(shared).free > 2 * MEMORY_MIB * 2**20
    environment = {"PATH": _path(), "TMPDIR": str(shared if roomy else folder), "HOME": str(folder)}
    # It dies with its parent, and its helpers with it, since they share a PID namespace.
    # Without permission for a higher priority, `nice` runs it at the normal one.
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    process = subprocess.Popen(
        ["nice", "-n", "-10", "setpriv", "--pdeathsig", "KILL", "--",
         "unshare", *user, "--pid", "--fork", "--kill-child", "--", *kernel],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        env=environment, start_new_session=True,
    )  # fmt: skip
    try:
        console, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        console = ""
    finally:
        _end(process)
        shutil.rmtree(run_files, ignore_errors=True)
    return console


def _end(process: subprocess.Popen[str]) -> None:
    """Killed, it takes the PID namespace of the guest with it."""
    if process.poll() is None:
        process.kill()
        process.communicate()


def _init(folder: Path, command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> str:
    place = shlex.quote(str(folder))
    variables = {"PATH": SYSTEM_PATH, "HOME": "/run", "TMPDIR": "/run", "PYTHONDONTWRITEBYTECODE": "1", **environment}
    exports = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
    return f"""#!/bin/sh
{exports}
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs tmp /run
mount -t hostfs -o {place} none {place}
(sleep {timeout_s:.0f}; echo o > /proc/sysrq-trigger) &
modules={MODULES}/$(uname -r)
for module in {" ".join(WANTED)}; do insmod $modules/$module; done
# Nothing may be lost where nobody looks.
echo 100000000 > /proc/sys/net/core/rmem_max
cd {place}
{shlex.join(command)} > output 2>&1 < /dev/null
echo $? > {STATUS}.new && mv {STATUS}.new {STATUS}
echo o > /proc/sysrq-trigger
sleep {_GRACE_S}
"""


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}"


if __name__ == "__main__":
    by_hand = run(Path(sys.argv[1]), sys.argv[2:], {}, 600)
    print(by_hand.output, end="")
    sys.exit(by_hand.status)
