"""The command in hints: `wirelab`, or `./wirelab` if the launcher of a checkout runs it."""

from __future__ import annotations

import os
import shlex

LAUNCHER = "WIRELAB_COMMAND"
"""Environment variable in which a launcher says how it was called."""


def program() -> str:
    """The command as it was typed."""
    return shlex.quote(os.environ.get(LAUNCHER) or "wirelab")


def launched(words: str) -> str:
    """A command line of Wirelab's."""
    return f"{program()} {words}"
