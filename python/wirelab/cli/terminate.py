"""SIGTERM ends a verb as Ctrl-C does: in order. Neither is lost."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SOON_S = 0.01


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Meanwhile a SIGTERM raises `KeyboardInterrupt`.

    One that is raised where Python ignores exceptions (in a finalizer, in an `isinstance` that compiled code asks for)
    is raised again a moment later.
    """
    handlers = {each: signal.signal(each, _stop) for each in (signal.SIGTERM, signal.SIGALRM)}
    hook = sys.unraisablehook

    def again(ignored: sys.UnraisableHookArgs) -> None:
        if isinstance(ignored.exc_value, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _SOON_S)
        else:
            hook(ignored)

    sys.unraisablehook = again
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook
        for each, handler in handlers.items():
            signal.signal(each, handler)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
