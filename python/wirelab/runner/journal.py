"""The campaign's memory: an entry is on the disk before its trial counts as over."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from wirelab.schema.campaign import JournalEntry, read_journal


class Journal:
    """An append-only file of JSON lines. Opening it cuts off a torn last line."""

    def __init__(self, path: Path) -> None:
        self.entries, size = read_journal(path)
        self._file = path.open("ab", buffering=0)
        self._file.truncate(size)

    def append(self, *entries: JournalEntry) -> None:
        """Write entries in one go and wait until the disk has them."""
        lines = "".join(entry.model_dump_json(exclude_none=False) + "\n" for entry in entries).encode()
        written = 0
        while written < len(lines):
            written += self._file.write(lines[written:])
        os.fdatasync(self._file.fileno())
        self.entries.extend(entries)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
