"""`python -m scripts.lessons [NAME...]`: runs lessons, and writes the pages that ship."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from wirelab.lessons.lesson import lesson_names
from wirelab.lessons.shipped import SUFFIX, packed

ROOT = Path(__file__).resolve().parents[1]
LESSONS = ROOT / "python" / "wirelab" / "data" / "lessons"


def main(names: list[str]) -> None:
    """Each lesson in a folder of its own."""
    for name in names or lesson_names():
        with tempfile.TemporaryDirectory(prefix="wirelab-lessons-") as folder:
            command = [sys.executable, "-m", "wirelab", "lesson", name, "--out", folder]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            page = (Path(folder) / "lesson.html").read_text(encoding="utf-8")
            (LESSONS / f"{name}{SUFFIX}").write_bytes(packed(page))


if __name__ == "__main__":
    main(sys.argv[1:])
