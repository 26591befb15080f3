"""SIGTERM ends a verb as Ctrl-C does: in order. Neither is lost."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def terminated_as_interrupted() -> Iterator[Callable[[], None]]:
    """Meanwhile a SIGTERM raises `KeyboardInterrupt`.

    Where Python ignores exceptions (in a finalizer, in an `isinstance` that compiled code asks for) one that a signal's
    handler raises is lost. What is yielded is to be called now and then: it raises `KeyboardInterrupt` again if there
    was a signal.
    """
    came = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal came
        came = True
        raise KeyboardInterrupt

    def check() -> None:
        if came:
            raise KeyboardInterrupt

    # A shell has those in the background ignore Ctrl-C, which is meant for another.
    heard = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is not signal.SIG_IGN]
    handlers = {each: signal.signal(each, stop) for each in heard}
    try:
        yield check
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
