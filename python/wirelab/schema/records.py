"""The records of a trial: brought to the disk with a digest each, and compared with those digests later.

A record is a file of the trial's folder, or of an endpoint's folder in it. Deeper ones are a program's own.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from wirelab.errors import WirelabError
from wirelab.schema.campaign import RESULT, read_result

_EXCHANGES = ("client/exchanges.arrow", "client/exchanges.jsonl")
_SETTINGS = "settings-seen.json"


def sync_records(folder: Path) -> dict[str, str]:
    """Wait until the disk has every record of a trial, and its folders; the SHA-256 of each record.

    A file that only its program's user may read is not a record: nobody reads it later either.
    """
    digests = {}
    for name in _files(folder):
        if (digest := _digest(folder / name, sync=True)) is not None:
            digests[name] = digest
    for each in (*(path for path in folder.iterdir() if _is_folder(path)), folder, folder.parent):
        _sync_folder(each)
    return digests


def damage(folder: Path, records: Mapping[str, str] | None, *, done: bool) -> str | None:
    """What is wrong with the records of a trial; None if they are those that its journal entry names.

    An entry without digests is of an earlier version: what can be read is whole then, and one that is `done` has
    exchanges.
    """
    if records is None:
        return _unreadable(folder) if done else None
    for name, digest in records.items():
        try:
            found = _digest(folder / name)
        except OSError as error:
            return f"its record {name} {_unusable(error)}"
        if found != digest:
            return f"its record {name} was changed, or is torn"
    return None


def _files(folder: Path) -> Iterator[str]:
    """Names of the records, relative to the trial's folder."""
    for path in sorted(folder.iterdir()):
        inner = sorted(path.iterdir()) if _is_folder(path) else [path]
        yield from (each.relative_to(folder).as_posix() for each in inner if _is_file(each))


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)


def _unusable(error: OSError) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "is missing"
    return "is a symbolic link" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"


def _digest(path: Path, *, sync: bool = False) -> str | None:
    """Of a regular file, which a symbolic link is not; None if it may not be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        if sync:
            os.fsync(descriptor)
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    finally:
        os.close(descriptor)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unreadable(folder: Path) -> str | None:
    """Which record of a trial that is done is missing, or cannot be read."""
    try:
        names = list(_files(folder))
        if RESULT not in names:
            return f"its record {RESULT} is missing"
        if not any(name in names for name in _EXCHANGES):
            return f"its record {_EXCHANGES[0]} is missing"
        read_result(folder / RESULT)
    except OSError:
        return "its folder is missing, or cannot be read"
    except WirelabError:
        return f"its record {RESULT} was changed, or is torn"
    torn = next((name for name in names if not _can_be_read(folder / name)), None)
    return None if torn is None else f"its record {torn} was changed, or is torn"


def _can_be_read(path: Path) -> bool:
    if path.suffix == ".arrow":
        import polars as pl

        try:
            pl.read_ipc(path)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            return False
        return True
    if path.suffix != ".jsonl" and path.name != _SETTINGS:
        return True
    try:
        lines = path.read_bytes().splitlines() if path.suffix == ".jsonl" else [path.read_bytes()]
        return all(isinstance(json.loads(line), dict) for line in lines)
    except (ValueError, RecursionError, OSError):
        return False
