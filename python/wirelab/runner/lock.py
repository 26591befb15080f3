"""One runner for each campaign."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirelab.errors import RunError

FILE = "lock"


@contextmanager
def locked(campaign: Path) -> Iterator[None]:
    """Hold the campaign's lock; the kernel lets go of it however this process ends."""
    with (campaign / FILE).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(
                f"{campaign} is being run by another process", hint="wait for it, or name another --out"
            ) from None
        yield
