"""Writes the pages to `docs/reference/`, or to the folder that is named."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.reference import FOLDER, pages


def main() -> None:
    """Write every page."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
