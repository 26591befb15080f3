"""Writing a file of a campaign in one step, so that a full disk or a killed process leaves the earlier one whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A new file to write, which takes the place of `path` at the end. No symbolic link is followed."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        yield fresh
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def replace_file(path: Path, text: str) -> None:
    """Write a text in one step."""
    with replaced(path) as fresh:
        fresh.write_text(text, encoding="utf-8")
