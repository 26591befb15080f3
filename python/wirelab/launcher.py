"""What whoever reads a hint has to type: `wirelab`, or `./wirelab` where the launcher of a checkout runs it."""

from __future__ import annotations

import os
import shlex

LAUNCHER = "WIRELAB_COMMAND"
"""Environment variable in which a launcher says how it was called."""


def program() -> str:
    """Wirelab, as it was called."""
    return shlex.quote(os.environ.get(LAUNCHER) or "wirelab")


def launched(words: str) -> str:
    """A command line of Wirelab's."""
    return f"{program()} {words}"
