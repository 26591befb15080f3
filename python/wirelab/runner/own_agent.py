"""The campaign's own copy of the agent: a build during the run must not change the measuring program."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "wirelab-agent"
ROOM = 10
"""A copy is made only where so many times its size is free."""

_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")


@contextmanager
def own_agent(campaign: Path, agent: Path, *, virtual: bool = False) -> Iterator[Path]:
    """A hard link to the agent in the campaign's folder, or a copy; removed at the end, and at the start of the run
    that follows a killed one.

    The agent itself where that cannot be: on a file system that executes nothing or has little room, and where AppArmor
    allows a user namespace to a program by its path. A guest of the virtual clock needs no such namespace.
    """
    own = campaign / NAME
    own.unlink(missing_ok=True)
    try:
        yield own if (virtual or not _is_bound_to_its_path()) and _make(own, agent) else agent
    finally:
        own.unlink(missing_ok=True)


def _make(own: Path, agent: Path) -> bool:
    try:
        own.hardlink_to(agent)
    except OSError:
        if shutil.disk_usage(own.parent).free < ROOM * agent.stat().st_size:
            return False
        shutil.copy2(agent, own)
    # Not so on a file system that is mounted noexec.
    return os.access(own, os.X_OK)


def _is_bound_to_its_path() -> bool:
    if os.geteuid() == 0:
        return False
    try:
        return _APPARMOR.read_text().strip() == "1"
    except OSError:
        return False
