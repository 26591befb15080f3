"""What a run tells whoever watches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Progress:
    """Where a run stands.

    `over` counts trials that need no more, `reused` those among them that an earlier run finished, `not_run` those that
    are not started because a program did not become ready.
    """

    over: int
    total: int
    reused: int
    failed: int
    running: int
    lanes: int
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
        """Time left at this rate; less where a stopping rule spares trials."""
        return (self.total - self.over) / self.rate_hz if self.rate_hz else None


def lanes_words(lanes: int) -> str:
    """`1 trial at a time`, `4 trials at a time`."""
    return f"{lanes} trial{'s' * (lanes != 1)} at a time"


class Observer(Protocol):
    """Watches a run."""

    def update(self, progress: Progress) -> None:
        """Hear where it stands; called about once a second and after each trial."""

    def say(self, words: str) -> None:
        """Hear of something that the user should know."""


@dataclass(frozen=True)
class Summary:
    """How a run went."""

    total: int
    run: int
    reused: int
    failed: int
    discarded: int
    flagged_blocks: int
    lanes: int
    elapsed_s: float
    cut_after_blocks: int | None = None
    """Where the budget ended the run with blocks left: how many had begun."""
    cut_scenarios: int = 0
    """How many scenarios that left with fewer trials than were asked for."""
    not_run: int = 0
    """Trials that were not started because a program did not become ready."""
