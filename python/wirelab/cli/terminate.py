"""SIGTERM ends a verb in order, as Ctrl-C does. Neither is lost."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def terminated_as_interrupted() -> Iterator[Callable[[], None]]:
    """Inside the context a SIGTERM raises `KeyboardInterrupt`.

    Python ignores exceptions in some places (a finalizer, an `isinstance` called by compiled code), so the handler's
    exception may be lost. The yielded function is to be called now and then: it raises `KeyboardInterrupt` again after
    a signal, and what was lost is not printed.
    """
    came = False
    shown = sys.unraisablehook

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal came
        came = True
        raise KeyboardInterrupt

    def check() -> None:
        if came:
            raise KeyboardInterrupt

    def lost(ignored: sys.UnraisableHookArgs) -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            shown(ignored)

    # A shell has those in the background ignore Ctrl-C, which is meant for another.
    heard = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is not signal.SIG_IGN]
    handlers = {each: signal.signal(each, stop) for each in heard}
    sys.unraisablehook = lost
    try:
        yield check
    finally:
        sys.unraisablehook = shown
        for each, handler in handlers.items():
            signal.signal(each, handler)
