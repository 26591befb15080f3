"""What a run reports while it lasts, and at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Progress:
    """The state of a run.

    `over` counts trials that need no more, `reused` those among them that an earlier run finished, `not_run` those that
    are not started because a program did not become ready.
    """

    over: int
    total: int
    reused: int
    failed: int
    running: int
    jobs: int
    discarded: int
    elapsed_s: float
    not_run: int = 0

    @property
    def rate_hz(self) -> float | None:
        """Trials a second in this run; none before the first."""
        done = self.over - self.reused
        return done / self.elapsed_s if done and self.elapsed_s > 0 else None

    @property
    def left_s(self) -> float | None:
        """Time left at this rate; less if a stopping rule skips trials."""
        return (self.total - self.over) / self.rate_hz if self.rate_hz else None


def jobs_words(jobs: int) -> str:
    """`1 trial at a time`, `4 trials at a time`."""
    return f"{jobs} trial{'s' * (jobs != 1)} at a time"


class Observer(Protocol):
    """Receives the reports of a run."""

    def update(self, progress: Progress) -> None:
        """The state of the run; called about once a second and after each trial."""

    def say(self, words: str) -> None:
        """A message for the user."""


@dataclass(frozen=True)
class Summary:
    """The result of a run."""

    total: int
    run: int
    reused: int
    failed: int
    discarded: int
    flagged_blocks: int
    lanes: int
    """Parallel trials at the end."""
    elapsed_s: float
    cut_after_blocks: int | None = None
    """If the budget ended the run early: how many blocks had started."""
    cut_scenarios: int = 0
    """How many scenarios that left with fewer trials than were asked for."""
    not_run: int = 0
    """Trials that were not run: a program did not become ready, or somebody ended their guest."""
    not_confirmed: int = 0
    """Failed trials with exchanges that the packets of the link do not confirm."""
    unusable: int = 0
    """Trials that are kept and of which nothing is estimated, for the link was so late that a timer may have fired."""
    digest: str | None = None
    """SHA-256 of the records, under the virtual clock."""

    @property
    def is_whole(self) -> bool:
        """Whether all trials ran, the link confirmed each, and not all failed."""
        return not (self.not_run or self.not_confirmed or self.failed == self.total)
