"""`./wirelab` of a checkout, with another uv and another Wirelab behind it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_who_ends_the_launcher_ends_wirelab(tmp_path: Path) -> None:
    shutil.copy(ROOT / "wirelab", tmp_path)
    for name, line in {
        "scripts/uv": 'echo "$@" > "$(dirname "$0")/asked"',
        ".venv/bin/wirelab": 'echo $$ "$@"',
    }.items():
        program = tmp_path / name
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    environment = {**os.environ, "WIRELAB_AGENT": "/agent"}
    command = [str(tmp_path / "wirelab"), "run", "two words"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    out, _ = process.communicate(timeout=60)
    assert out == f"{process.pid} run two words\n"
    assert (tmp_path / "scripts" / "asked").read_text().startswith("sync ")
