"""A full disk, said plainly."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirelab.errors import RunError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
LEAST_FREE_BYTES = 4 * 2**20
"""With less, an endpoint or the link may fail to write what it measured."""


class DiskFullError(RunError):
    """No room for another trial."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"no space left on the device of {folder}",
            hint="make room, then give the same command: finished trials are kept",
        )


@contextmanager
def no_space_means_full(folder: Path) -> Iterator[None]:
    """Turn ENOSPC and a spent quota into `DiskFullError`."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise DiskFullError(folder) from error
        raise


def replace_file(path: Path, text: str) -> None:
    """Write a file in one step: a full disk or a killed run leaves what was there before."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def require_space(folder: Path) -> None:
    """Raise `DiskFullError` if a trial's records may not fit."""
    if shutil.disk_usage(folder).free < LEAST_FREE_BYTES:
        raise DiskFullError(folder)
