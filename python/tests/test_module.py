"""Started as a module, it is the command."""

import subprocess
import sys

from wirelab import __version__


def test_python_m_wirelab_runs_wirelab() -> None:
    said = subprocess.run([sys.executable, "-m", "wirelab", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"wirelab {__version__}\n"
