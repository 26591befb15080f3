"""Values of one metric in one scenario, trial by trial.

Trials are the resampling unit: exchanges of one trial share a connection's history, a link seed and a moment of the
machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """`trials[i]` holds trial i's completed values; `censored[i]` counts its values that are only known to be above
    every time-out. `unknown` values are missing, for nothing is known of them after a time-out.
    """

    trials: tuple[Floats, ...]
    censored: tuple[int, ...]
    unknown: int = 0

    @classmethod
    def of(cls, trials: Iterable[Iterable[float]], censored: Sequence[int] | None = None) -> Sample:
        arrays = tuple(np.asarray(list(trial), dtype=np.float64) for trial in trials)
        return cls(arrays, tuple(censored) if censored is not None else (0,) * len(arrays))

    @cached_property
    def values(self) -> Floats:
        """Every completed value."""
        return np.concatenate(self.trials) if self.trials else np.empty(0)

    @cached_property
    def ordered(self) -> Floats:
        """Every value in order, the censored ones as infinity."""
        return np.concatenate([np.sort(self.values), np.full(sum(self.censored), np.inf)])

    def up_to(self, value: float) -> tuple[list[int], list[int]]:
        """Of each trial: how many values are not above this one, and how many there are; censored ones are infinite."""
        each = list(zip(self.trials, self.censored, strict=True))
        above = math.isfinite(value)
        return (
            [int((trial <= value).sum()) + (0 if above else count) for trial, count in each],
            [len(trial) + count for trial, count in each],
        )

    @property
    def n(self) -> int:
        """Completed and censored values."""
        return len(self.ordered)

    @property
    def censored_share(self) -> float:
        """The share of values that are censored."""
        return sum(self.censored) / self.n if self.n else 0.0

    @property
    def unknown_share(self) -> float:
        """The share of values that are unknown because of timeouts."""
        return self.unknown / (self.n + self.unknown) if self.unknown else 0.0

    def with_censored(self, instead: float = np.inf) -> tuple[Floats, ...]:
        """Trials with their censored values as infinity, or as another number, without trials that have no value."""
        joined = (
            np.concatenate([trial, np.full(count, instead)])
            for trial, count in zip(self.trials, self.censored, strict=True)
        )
        return tuple(trial for trial in joined if len(trial))

    def restricted(self, horizon_s: float) -> tuple[Floats, ...]:
        """Trials with time-outs, and everything longer, counted at the horizon; trials without values are left
        out.
        """
        return tuple(np.minimum(trial, horizon_s) for trial in self.with_censored(horizon_s))

    def completed(self) -> tuple[Floats, ...]:
        """Trials that completed anything."""
        return tuple(trial for trial in self.trials if len(trial))
