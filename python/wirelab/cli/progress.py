"""Progress on stderr: a live line on a terminal, plain lines otherwise."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from wirelab.units import format_duration

if TYPE_CHECKING:
    from wirelab.runner.progress import Progress

BAR_WIDTH = 24
LEAST_BAR = 4
PLAIN_EVERY_S = 10.0


class LiveLine:
    """One line that is redrawn on a terminal, and printed now and then elsewhere; a context manager, since a live line
    must be ended.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=False) if console.is_terminal else None
        self._said_at = -PLAIN_EVERY_S
        self._last: str | None = None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
        elif self._last is not None:
            self._print(self._last)

    def show(self, share: float, text: str, elapsed_s: float) -> None:
        """Show a bar and a text; without a terminal every ten seconds, and the last at the end."""
        if self._live is not None:
            self._live.update(fitted(share, text, self._console.width), refresh=True)
        elif elapsed_s - self._said_at >= PLAIN_EVERY_S:
            self._print(text)
            self._said_at = elapsed_s
            self._last = None
        else:
            self._last = text

    def say(self, text: str) -> None:
        """Print a line above the live one."""
        self._console.print(text, style="yellow", highlight=False, markup=False, soft_wrap=True)

    def _print(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


class LiveProgress(LiveLine):
    """Shows a run's progress. `check` is called at each step of it, and ends the run by what it raises."""

    def __init__(self, console: Console, check: Callable[[], None]) -> None:
        super().__init__(console)
        self._check = check

    def update(self, progress: Progress) -> None:
        """Show where the run stands."""
        self._check()
        share = progress.over / progress.total if progress.total else 1.0
        self.show(share, words(progress), progress.elapsed_s)


def fitted(share: float, text: str, columns: int) -> Text:
    """A bar and a text in one line: the bar shrinks for the text, which ends in an ellipsis if it still does not fit,
    because a wrapped line cannot be redrawn.
    """
    room = min(BAR_WIDTH, columns - len(text) - len("[] "))
    return Text(f"{bar(share, room)} {text}" if room >= LEAST_BAR else text, no_wrap=True, overflow="ellipsis")


def bar(share: float, width: int = BAR_WIDTH) -> str:
    """`[######------]`."""
    filled = int(width * share)
    return f"[{'#' * filled}{'-' * (width - filled)}]"


def words(progress: Progress) -> str:
    """`34/160  4 at a time  0 failed  3.2 trials/s  40 s left`."""
    parts = [f"{progress.over}/{progress.total}", f"{progress.jobs} at a time"]
    parts.append(f"{progress.failed} failed")
    if progress.not_run:
        parts.append(f"{progress.not_run} not run")
    if progress.reused:
        parts.append(f"{progress.reused} reused")
    if progress.discarded:
        parts.append(f"{progress.discarded} repeated")
    if progress.rate_hz is not None:
        parts.append(f"{progress.rate_hz:.1f} trials/s")
    if progress.left_s is not None and progress.over < progress.total:
        parts.append(f"about {format_duration(progress.left_s * 1e9)} left")
    return "  ".join(parts)
