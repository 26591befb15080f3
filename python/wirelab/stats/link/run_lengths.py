"""Lengths of loss runs at a loss stage, compared with those of its model.

A run is a row of packets that were lost one after the other, between two that passed. A hidden chain's runs are not
independent, so that the chi-square statistic is set against the model's own: its mean and variance are simulated with a
fixed seed, and a scaled chi-square of these two moments (Satterthwaite) gives the p value.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wirelab.schema.link_facts import LossChain

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_EXPECTED = 5.0
"""Runs that the model expects in each cell of the table."""
LEAST_RUNS = 10
REPETITIONS = 400
MOST_SIMULATED = 20_000
"""Packets of each repetition."""
LONGEST = 400


class RunTest(NamedTuple):
    """Runs of losses: their mean length by the model and in the data, how many there were, and the test's p value."""

    configured: float
    measured: float
    runs: int
    p: float
    cells: int


def run_lengths(lost: NDArray[np.bool_]) -> Integers:
    """Lengths of the complete runs: those that neither begin nor end the record."""
    padded = np.concatenate(([True], ~lost, [True])) if lost.size else np.array([True])
    passed = np.flatnonzero(padded)
    gaps = np.diff(passed) - 1
    if lost.size and lost[0]:
        gaps = gaps[1:]
    if lost.size and lost[-1]:
        gaps = gaps[:-1]
    return np.asarray(gaps[gaps > 0], dtype=np.int64)


def run_distribution(chain: LossChain) -> Floats | None:
    """Probability of each length from 1 on; None where nothing is lost."""
    transitions, loss, stationary = _arrays(chain)
    passes = transitions.T * (1 - loss)  # [to, from]: passed in `from`, then moved
    loses = transitions.T * loss
    at = passes @ stationary
    begun = loses @ at
    lengths = []
    for _ in range(LONGEST):
        lengths.append(float(((1 - loss) * begun).sum()))
        begun = loses @ begun
    total = sum(lengths) + float(begun.sum())
    return np.asarray(lengths) / total if total > 0 else None


def run_test(chain: LossChain, lost: NDArray[np.bool_]) -> RunTest | None:
    """The test; None where the model or the number of runs allows none."""
    distribution = run_distribution(chain)
    lengths = run_lengths(lost)
    if distribution is None or len(lengths) < LEAST_RUNS:
        return None
    configured = float(np.arange(1, len(distribution) + 1) @ distribution)
    measured = float(lengths.mean())
    edges = _edges(distribution, len(lengths))
    if len(edges) < 2:
        return RunTest(configured, measured, len(lengths), _alone(lengths), 1)
    statistic = _chi_square(lengths, distribution, edges)
    mean, variance = _null(chain, min(len(lost), MOST_SIMULATED))
    return RunTest(configured, measured, len(lengths), _p(statistic, mean, variance), len(edges))


def _alone(lengths: Integers) -> float:
    """With one cell, nearly every run has length 1: the test has nothing to see unless none has."""
    return 1.0 if (lengths == 1).any() else 0.0


def _p(statistic: float, mean: float, variance: float) -> float:
    from scipy.special import gammaincc

    if mean <= 0 or variance <= 0:
        return 1.0
    scale, shape = variance / mean, mean**2 / variance
    return float(gammaincc(shape, statistic / scale))


def _edges(distribution: Floats, runs: int) -> list[int]:
    """Where cells begin (lengths from 1), so that each expects enough runs; the last has no end."""
    edges, tail = [1], float(distribution.sum())
    filled = 0.0
    for index, share in enumerate(distribution):
        filled += float(share)
        tail -= float(share)
        if runs * filled >= LEAST_EXPECTED:
            if runs * tail < LEAST_EXPECTED:
                break
            edges.append(index + 2)
            filled = 0.0
    return edges


def _chi_square(lengths: Integers, distribution: Floats, edges: list[int]) -> float:
    bounds = [*edges, np.inf]
    seen, _ = np.histogram(lengths, bins=bounds)
    cumulative = np.concatenate(([0.0], np.cumsum(distribution)))
    at = [cumulative[edge - 1] for edge in edges] + [1.0]
    expected = np.diff(np.asarray(at)) * len(lengths)
    return float(((seen - expected) ** 2 / expected).sum())


@lru_cache(maxsize=64)
def _null(chain: LossChain, n: int) -> tuple[float, float]:
    """Mean and variance of the statistic under the model, simulated."""
    distribution = run_distribution(chain)
    assert distribution is not None
    lost = simulate(chain, n, REPETITIONS, np.random.default_rng(0))
    values = []
    for row in lost:
        lengths = run_lengths(row)
        if len(lengths) >= LEAST_RUNS:
            edges = _edges(distribution, len(lengths))
            if len(edges) >= 2:
                values.append(_chi_square(lengths, distribution, edges))
    if len(values) < REPETITIONS // 10:
        return 0.0, 0.0
    return float(np.mean(values)), float(np.var(values, ddof=1))


def simulate(chain: LossChain, packets: int, repetitions: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Outcomes of a chain that starts in its stationary state, a row for each repetition: true is lost."""
    transitions, loss, stationary = _arrays(chain)
    cumulative = np.cumsum(transitions, axis=1)
    state = np.searchsorted(np.cumsum(stationary), generator.random(repetitions))
    state = np.minimum(state, len(loss) - 1)
    lost = np.empty((repetitions, packets), dtype=np.bool_)
    for packet in range(packets):
        lost[:, packet] = generator.random(repetitions) < loss[state]
        state = (generator.random(repetitions)[:, None] > cumulative[state]).sum(axis=1)
        np.minimum(state, len(loss) - 1, out=state)
    return lost


def _arrays(chain: LossChain) -> tuple[Floats, Floats, Floats]:
    return np.array(chain.transitions), np.array(chain.loss), np.array(chain.stationary)
