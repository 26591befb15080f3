"""An interrupt reaches the verb, wherever Python was when it came."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Iterator

import pytest
from rich.console import Console

from wirelab.cli.progress import LiveProgress
from wirelab.cli.terminate import terminated_as_interrupted
from wirelab.runner.progress import Progress

PROGRESS = Progress(over=1, total=2, reused=0, failed=0, running=1, jobs=1, discarded=0, elapsed_s=1.0)


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


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_termination_signal_is_an_interrupt(how: signal.Signals) -> None:
    before = signal.getsignal(how)
    with pytest.raises(KeyboardInterrupt), terminated_as_interrupted():
        signal.raise_signal(how)
    assert signal.getsignal(how) is before


def test_an_interrupt_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with terminated_as_interrupted() as check:
        signal.raise_signal(signal.SIGINT)
        check()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_lost_by_python_ends_a_run_at_its_next_step_and_is_not_printed(
    how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    with terminated_as_interrupted() as check, LiveProgress(Console(file=io.StringIO()), check) as progress:
        progress.update(PROGRESS)
        ends = _Interrupted(how)
        del ends
        with pytest.raises(KeyboardInterrupt):
            progress.update(PROGRESS)
    assert not printed


class _Broken:
    def __del__(self) -> None:
        raise ValueError


def test_other_errors_that_python_ignores_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    with terminated_as_interrupted():
        broken = _Broken()
        del broken
    assert len(printed) == 1
    assert sys.unraisablehook == printed.append
