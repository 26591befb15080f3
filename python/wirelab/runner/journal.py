"""The campaign's memory: an entry is on the disk before its trial counts as over."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from wirelab.runner.disk import FolderGoneError
from wirelab.schema.campaign import JournalEntry, scan_journal
from wirelab.schema.replaced import replaced


class Journal:
    """An append-only file of JSON lines. Opening it removes the lines that are torn or damaged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries, whole, damaged, cut = scan_journal(path)
        self.removed = (*damaged, *([cut] if cut is not None else []))
        """What was wrong with each line that was removed."""
        if damaged:
            with replaced(path) as fresh, fresh.open("wb") as file:
                file.write(whole)
                file.flush()
                os.fsync(file.fileno())
        self._file = path.open("ab", buffering=0)
        self._file.truncate(len(whole))

    def append(self, *entries: JournalEntry) -> None:
        """Write entries in one go and wait until the disk has them."""
        self._require_there()
        lines = b"".join(entry.line() for entry in entries)
        written = 0
        while written < len(lines):
            written += self._file.write(lines[written:])
        os.fdatasync(self._file.fileno())
        self.entries.extend(entries)

    def _require_there(self) -> None:
        """Raise `RunError` if another file, or none, has its name by now: nobody would ever read what is written."""
        try:
            there = os.path.samestat(os.fstat(self._file.fileno()), self._path.stat())
        except OSError:
            there = False
        if not there:
            raise FolderGoneError(self._path)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
