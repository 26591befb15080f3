"""An interrupt reaches the verb, wherever Python was when it came."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator

import pytest

from wirelab.cli.terminate import terminated_as_interrupted

_LONG_S = 30.0


@pytest.fixture(autouse=True)
def interrupts_are_heard() -> Iterator[None]:
    """In the background a shell has its children ignore them."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


class _Interrupted:
    """Its finalizer gets a signal, in which Python ignores what is raised."""

    def __init__(self, how: signal.Signals) -> None:
        self._how = how

    def __del__(self) -> None:
        signal.raise_signal(self._how)


def test_a_termination_is_an_interrupt() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), terminated_as_interrupted():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_that_was_ignored_comes_again(how: signal.Signals) -> None:
    before, hook = signal.getsignal(signal.SIGALRM), sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), terminated_as_interrupted():
        ends = _Interrupted(how)
        del ends
        time.sleep(_LONG_S)
    assert signal.getsignal(signal.SIGALRM) is before
    assert sys.unraisablehook is hook
