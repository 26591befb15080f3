"""Text kept next to the tests. `WIRELAB_UPDATE_GOLDEN=1` writes it again; read the difference before keeping it."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("WIRELAB_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"no {path}: run once with WIRELAB_UPDATE_GOLDEN=1"
    assert text == path.read_text(encoding="utf-8")
