"""The CPUs of this machine: which the link may have for itself, and whether it needs one."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LINK_PRIORITY = 10
"""Real-time priority that the link's thread asks for."""
CAP_SYS_NICE = 23


def count() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def mine() -> tuple[int, ...]:
    """The numbers of these CPUs."""
    return tuple(sorted(os.sched_getaffinity(0)))


def real_time() -> bool:
    """Whether the link's thread will be granted SCHED_FIFO."""
    if resource.getrlimit(resource.RLIMIT_RTPRIO)[0] >= LINK_PRIORITY:
        return True
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)$", Path("/proc/self/status").read_text("ascii", "replace"), re.M)
    return os.geteuid() == 0 and effective is not None and bool(int(effective[1], 16) >> CAP_SYS_NICE & 1)


@contextmanager
def away_from(cpu: int | None) -> Iterator[None]:
    """Leave the link the CPU that it has for itself, with every thread that there is and that begins meanwhile."""
    allowed = os.sched_getaffinity(0)
    if cpu is None or allowed <= {cpu}:
        yield
        return
    _keep_to(allowed - {cpu})
    try:
        yield
    finally:
        _keep_to(allowed)


def _keep_to(cpus: set[int]) -> None:
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread.name), cpus)
