"""Four shapes of made-up delays, in seconds: trials of exchanges, with an effect of the trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wirelab.stats.estimate.sample import Sample

Floats = NDArray[np.float64]
TIME_OUT_S = 10.0
LATE_S = 1.0
TRUTH_TRIALS = 200_000
FIRST_TIMER_S = 0.2


def _lognormal(trials: int, exchanges: int, rng: np.random.Generator) -> Floats:
    scales = np.exp(rng.normal(0, 0.1, (trials, 1)))
    found: Floats = 0.05 * scales * np.exp(rng.normal(0, 0.6, (trials, exchanges)))
    return found


def _loss(trials: int, exchanges: int, rng: np.random.Generator) -> Floats:
    """A quarter of the packets is lost, each alone; how many differs between trials."""
    lost = np.broadcast_to(rng.beta(25, 75, (trials, 1)), (trials, exchanges))
    return _with_timers(lost, rng)


def _bursts(trials: int, exchanges: int, rng: np.random.Generator) -> Floats:
    """An exchange in a burst follows one in a burst with 0.6, any other with 0.07; in a burst 0.63 of packets fail."""
    inside = rng.random(trials) < 0.15
    places = np.empty((trials, exchanges), dtype=bool)
    for place in range(exchanges):
        inside = rng.random(trials) < np.where(inside, 0.6, 0.07)
        places[:, place] = inside
    return _with_timers(np.where(places, 0.63, 0.0), rng)


def _with_timers(lost: Floats, rng: np.random.Generator) -> Floats:
    """Delays with a timer that doubles for each attempt that fails; what comes after the time-out is not looked at."""
    timeouts, failing = np.zeros(lost.shape), np.ones(lost.shape, dtype=bool)
    for _ in range(7):
        failing &= rng.random(lost.shape) < lost
        timeouts += failing
    found: Floats = 0.04 * np.exp(rng.normal(0, 0.1, lost.shape)) + FIRST_TIMER_S * (2**timeouts - 1)
    return found


@dataclass(frozen=True)
class Shape:
    """Delays of one shape, so many exchanges in each trial."""

    name: str
    delays: Callable[[int, int, np.random.Generator], Floats]
    exchanges: int

    def sample(self, trials: int, rng: np.random.Generator, times: float = 1.0) -> Sample:
        """Trials whose delays are so many times as long; what exceeds the time-out is counted alone."""
        return self.cut(times * self.delays(trials, self.exchanges, rng))

    @staticmethod
    def cut(rows: Floats) -> Sample:
        """Delays with those beyond the time-out counted alone."""
        late = rows >= TIME_OUT_S
        return Sample(tuple(row[~cut] for row, cut in zip(rows, late, strict=True)), tuple(late.sum(axis=1).tolist()))

    @cached_property
    def truth(self) -> dict[str, float]:
        """What each estimator estimates, from so many trials that its own error does not count."""
        every = self.delays(TRUTH_TRIALS, max(self.exchanges, 10), np.random.default_rng(17)).ravel()
        return {
            "median": float(np.quantile(every, 0.5)),
            "25th percentile": float(np.quantile(every, 0.25)),
            "75th percentile": float(np.quantile(every, 0.75)),
            "95th percentile": float(np.quantile(every, 0.95)),
            "share above 1 s": float((every > LATE_S).mean()),
            "restricted mean": float(np.minimum(every, TIME_OUT_S).mean()),
            "standard deviation": float(every[every < TIME_OUT_S].std()),
        }


SHAPES = (
    Shape("lognormal", _lognormal, 10),
    Shape("losses", _loss, 10),
    Shape("bursts with time-outs", _bursts, 10),
    Shape("losses, one value a trial", _loss, 1),
)
