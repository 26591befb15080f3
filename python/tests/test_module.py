"""Started as a module, it is the command; cancelled before its command line is there, it ends quietly."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from wirelab import __version__

SOURCE = Path(__file__).parents[1]

CANCELLED = """
import os, signal, sys

class Cancelled:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Cancelled())
sys.argv = ["wirelab", *{arguments!r}]
from wirelab.__main__ import main
main()
"""


def test_python_m_wirelab_runs_wirelab() -> None:
    said = subprocess.run([sys.executable, "-m", "wirelab", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[0] == f"wirelab {__version__}"


@pytest.mark.parametrize(
    "module",
    ["wirelab.cli", "click", "click.core", "wirelab.launcher", "wirelab.cli.exact", "wirelab.limits", "pydantic"],
)
def test_an_interrupt_while_a_module_is_imported_is_one_line(module: str) -> None:
    script = CANCELLED.format(module=module, arguments=["exact", "no-such-experiment"])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=SOURCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\ncancelled\n")


def test_the_installed_command_begins_here() -> None:
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"wirelab": "wirelab.__main__:main"}
