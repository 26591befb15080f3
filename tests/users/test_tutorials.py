"""The commands of the tutorials, typed one after another in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.nightly, pytest.mark.guest]

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXITS = re.compile(r"  # exits with (\d)$")
BUILDS = "wirelab clock build"
TIMEOUT_S = 400


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_tutorial_works_in_its_order(page: Path, tmp_path: Path) -> None:
    ran, text = 0, page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        kind, block = found.groups()
        saved = re.search(r"Save this as `(.+?)`:\s*$", text[: found.start()])
        if saved is not None:
            (tmp_path / saved[1]).write_text(block)
            continue
        for command in block.splitlines() if kind == "sh" else [block]:
            if command == BUILDS:
                continue
            _run(kind, command, tmp_path)
            ran += 1
    assert ran or page.name == "README.md"


def _run(kind: str, command: str, folder: Path) -> None:
    exits = EXITS.search(command)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    if kind == "python":
        words = [sys.executable, "-c", command]
    else:
        program = f'wirelab() {{ {sys.executable} -m wirelab "$@"; }}\n'
        words = ["sh", "-c", program + command]
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    assert done.returncode == (0 if exits is None else int(exits[1])), f"{command}\n{done.stdout}\n{done.stderr}"
