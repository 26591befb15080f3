"""The command in hints: `wirelab`, or `./wirelab` if the launcher of a checkout runs it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

LAUNCHER = "WIRELAB_COMMAND"
"""Environment variable in which a launcher says how it was called."""


def program() -> str:
    """The command as it was typed."""
    return shlex.quote(os.environ.get(LAUNCHER) or "wirelab")


def installs(extra: str) -> str:
    """The command that installs an extra: in a checkout, into the environment that its launcher keeps."""
    if launcher := os.environ.get(LAUNCHER):
        folder = Path(launcher).parent
        words = [str(folder / "scripts" / "uv"), "sync", "--locked", "--no-dev", "--inexact", "--extra", extra]
        return shlex.join([*words, "--project", str(folder)])
    return f"pip install 'wirelab[{extra}]'"


def launched(words: str) -> str:
    """A command line of Wirelab's."""
    return f"{program()} {words}"
