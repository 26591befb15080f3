"""`./wirelab` of a checkout, with another uv and another Wirelab behind it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def launched(tmp_path: Path, *words: str) -> tuple[int, list[str]]:
    """Process id of the launcher, and what another Wirelab behind it says of itself: process id, how it was called, and
    its words.
    """
    shutil.copy(ROOT / "wirelab", tmp_path)
    for name, line in {
        "scripts/uv": 'echo "$@" > "$(dirname "$0")/asked"',
        ".venv/bin/wirelab": 'printf "%s\\n" $$ "$WIRELAB_COMMAND" "$@"',
    }.items():
        program = tmp_path / name
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    environment = {**os.environ, "WIRELAB_AGENT": "/agent"}
    process = subprocess.Popen(["./wirelab", *words], env=environment, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    out, _ = process.communicate(timeout=60)
    return process.pid, out.splitlines()


def test_who_ends_the_launcher_ends_wirelab(tmp_path: Path) -> None:
    pid, [inner, _, *words] = launched(tmp_path, "run", "two words")
    assert int(inner) == pid
    assert words == ["run", "two words"]
    assert (tmp_path / "scripts" / "asked").read_text().startswith("sync ")


def test_wirelab_knows_how_its_launcher_was_called(tmp_path: Path) -> None:
    _, [_, called, *_] = launched(tmp_path, "plan", "quickstart")
    assert called == "./wirelab"
