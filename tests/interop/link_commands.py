"""Commands that run behind a link, and waiting for what they do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

PATIENCE_S = 60.0
LINK = (sys.executable, "-m", "wirelab", "link")


def python(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code, *arguments)


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {PATIENCE_S:.0f} s"
        time.sleep(0.02)


def words_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    return process.communicate(timeout=PATIENCE_S)
