"""Third-party programs as they are on this machine: which are installed, and in which version."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from wirelab.experiment.programs.implementations import CATALOGUE, Implementation, parse

_SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def load(folder: Path | None) -> dict[str, Implementation]:
    """The shipped implementations, with those of an experiment's folder, which win."""
    shipped, python = resources.files("wirelab.data"), {"python": sys.executable}
    found = parse(shipped.joinpath(CATALOGUE), CATALOGUE, python | {"scripts": str(shipped.joinpath("clients"))})
    if folder is not None and (own := folder / CATALOGUE).exists():
        found |= parse(own, str(own), python | {"beside": str(folder.resolve())})
    return found


def missing(program: Implementation) -> str | None:
    """The part that is not installed, with the fix; None if it can run."""
    if program.python_module is not None:
        absent = find_spec(program.python_module) is None
        return f"the Python module {program.python_module} is not installed; {program.install}" if absent else None
    needed = program.program or program.text(program.version_command[0], {})
    return f"{needed} is not installed; {program.install}" if find_program(needed) is None else None


def version(program: Implementation) -> str | None:
    """The first line of its version; None if it is not installed or prints nothing."""
    if missing(program) is not None:
        return None
    name, *arguments = (program.text(word, {}) for word in program.version_command)
    try:
        done = subprocess.run(
            [find_program(name) or name, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return lines[0] if lines else None


def find_program(name: str) -> str | None:
    """The path of a program, also in system folders that are not in an ordinary user's PATH."""
    path = os.environ.get("PATH", os.defpath)
    return shutil.which(name, path=os.pathsep.join([path, *_SYSTEM_FOLDERS]))
