"""SIGTERM ends a verb as Ctrl-C does: in order."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Meanwhile a SIGTERM raises `KeyboardInterrupt`."""
    previous = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
