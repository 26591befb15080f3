"""One process for each campaign: it runs, or derives from what was run."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirelab.errors import RunError

FILE = "lock"
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


@contextmanager
def locked(campaign: Path) -> Iterator[None]:
    """Hold the campaign's lock; the kernel releases it however this process ends.

    A campaign that cannot be written is locked if it has the file; nobody can change it otherwise.
    """
    descriptor = _opened(campaign / FILE)
    if descriptor is None:
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise RunError(f"{campaign} is in use by another process", hint="wait for it, or name another folder") from None
    try:
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o666)
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise
    try:
        return os.open(path, os.O_RDONLY | _FLAGS)
    except (FileNotFoundError, PermissionError):
        return None
