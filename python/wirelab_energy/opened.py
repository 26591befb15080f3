"""Opening a file that a user names: a regular file of a bounded size, or one error.

Every file that an experiment, an option or an argument names is opened here. What Wirelab ships, and what it wrote
itself, is not.
"""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path

from wirelab_energy.errors import Where, WirelabError, nearest

NO_FILE = "no such file"
MOST_BYTES = 16 * 10**6
"""Of a file that is read at once."""


def open_file(path: Path, where: Where | str | None, most_bytes: int | None = MOST_BYTES) -> BufferedReader:
    """A regular file, at its start. A pipe without a writer is refused and not waited for.

    Raises `WirelabError`: no such file, not a regular file, more than `most_bytes` bytes, a name that is none.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError:
        raise WirelabError(NO_FILE, where) from None
    except OSError as error:
        raise WirelabError(f"cannot be read: {(error.strerror or str(error)).lower()}", where) from None
    except ValueError as error:
        # A zero byte, or half of a character.
        raise WirelabError(f"is not the name of a file: {error}", where) from None
    try:
        _check(os.fstat(descriptor), where, most_bytes)
    except WirelabError:
        os.close(descriptor)
        raise
    return open(descriptor, "rb")  # noqa: PTH123 (a descriptor)


def read_bytes(path: Path, where: Where | str | None, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a regular file. Raises `WirelabError` as `open_file` does."""
    with open_file(path, where, most_bytes) as file:
        try:
            content = file.read(most_bytes + 1)
        except OSError as error:
            raise WirelabError(f"cannot be read: {(error.strerror or str(error)).lower()}", where) from None
    if len(content) > most_bytes:
        raise _too_large(where, most_bytes)
    return content


def nearest_file(path: Path, suffix: str = "") -> str | None:
    """The name of a file in the same folder that was most likely meant; None if none is like it."""
    try:
        return nearest(path.name, [each.name for each in path.parent.iterdir() if each.name.endswith(suffix)])
    except (OSError, ValueError):
        return None


def _check(status: os.stat_result, where: Where | str | None, most_bytes: int | None) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise WirelabError("is a folder, not a file", where)
    if not stat.S_ISREG(status.st_mode):
        raise WirelabError("is not a regular file", where, "write what it gives into a file, and name that")
    if most_bytes is not None and status.st_size > most_bytes:
        raise _too_large(where, most_bytes)


def _too_large(where: Where | str | None, most_bytes: int) -> WirelabError:
    return WirelabError(f"is larger than {most_bytes // 10**6} MB", where, "cut it, or take a part of it")
