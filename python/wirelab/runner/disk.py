"""A full disk, said plainly."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirelab.errors import RunError, Where, WirelabError
from wirelab.limits import limits_as_errors
from wirelab.schema.campaign import TRIALS

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
LEAST_FREE_BYTES = 4 * 2**20
"""With less free space, an endpoint or the link may fail to write its records."""


class DiskFullError(RunError):
    """No room for another trial."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"no space left on the device of {folder}",
            hint="make room, then give the same command: finished trials are kept",
        )


class FolderGoneError(RunError):
    """A campaign's folder, or a part of it, was taken away while the campaign ran."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} was removed or renamed during the run",
            hint="put it back, then give the same command: finished trials in it are kept",
        )


@contextmanager
def faults_as_errors(folder: Path) -> Iterator[None]:
    """Turn what goes wrong with a campaign's folder into one error: no space and a spent quota into `DiskFullError`, a
    folder that is gone into `FolderGoneError`, and a limit of this process into `RunError`.
    """
    try:
        with limits_as_errors():
            yield
    except OSError as error:
        if error.errno in FULL:
            raise DiskFullError(folder) from error
        parts = [folder, folder / TRIALS]
        if isinstance(error, FileNotFoundError) and (gone := [each for each in parts if not each.is_dir()]):
            raise FolderGoneError(gone[0]) from None
        raise


def require_writable(folder: Path, what: Path, hint: str, refused: str = "cannot be made") -> None:
    """Raise `WirelabError` if `what` cannot be made in `folder`, or above it where it is missing. Nothing stays of the
    attempt; a full disk is left to who writes.
    """
    try:
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        with tempfile.TemporaryFile(dir=there):
            return
    except OSError as error:
        if error.errno not in FULL:
            raise WirelabError(f"{refused}: {error.strerror}", Where(str(what)), hint) from None


def require_space(folder: Path, error: str | None = None) -> None:
    """Raise `DiskFullError` if a trial's records may not fit, or did not by what its `error` says."""
    if shutil.disk_usage(folder).free < LEAST_FREE_BYTES or os.strerror(errno.ENOSPC) in (error or ""):
        raise DiskFullError(folder)
