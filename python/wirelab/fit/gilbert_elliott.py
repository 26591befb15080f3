"""The Gilbert-Elliott model with all four parameters, by maximum likelihood of the hidden Markov model.

netem's convention: the state before the packet's transition decides its outcome; the first state is stationary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wirelab.fit.observations import Lost
from wirelab.stats.estimate.model import LEVEL, Estimate

Matrix = NDArray[np.float64]
Cost = Callable[[NDArray[np.float64]], float]

_STARTS = ((1.0, 0.9, 0.02), (0.3, 0.5, 0.2))
"""Where the search begins: transitions in multiples of the simple model's, loss in the bad state, loss in the good
state in multiples of the mean."""
_BOUND = 10.0
_AT_BOUND = 9.5
"""On the logit scale: a probability that the search drives beyond this is 0 or 1 for all that the data say."""
_FLAT = 5.0
"""A standard error beyond this, on that scale, leaves a probability anywhere between 0 and 1."""
_STEP = 0.01
_GRADIENT_STEP = 1e-5
"""So that the rounding of a logarithm of thousands does not show in the gradient."""


@dataclass(frozen=True)
class Hidden:
    """The fit, and the p-value of the likelihood-ratio test against the simple Gilbert model.

    That model lies on the edge of this one (loss of 1 and 0), where twice the logarithm of the ratio is at most
    chi-squared with two degrees of freedom: the p-value errs towards the simple model (Self and Liang 1987).
    """

    p: Estimate
    r: Estimate
    bad_loss: Estimate
    good_loss: Estimate
    p_simple: float


@dataclass(frozen=True)
class Runs:
    """A sequence as runs of equal outcomes: which are lost, and how long each is."""

    lost: Lost
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, lost: Lost) -> Runs:
        """The runs of a sequence that is not empty."""
        starts = np.flatnonzero(np.concatenate([[True], lost[1:] != lost[:-1]]))
        return cls(lost[starts], np.diff(np.append(starts, len(lost))))


def fit(lost: Lost, p: float, r: float) -> Hidden:
    """Fit by likelihood, beginning near the simple model's `p` and `r`."""
    from scipy.optimize import minimize
    from scipy.special import chdtrc, expit, logit

    runs, share = Runs.of(lost), float(lost.mean())
    scales = np.array([1.0, 1.0, 1.0, share])
    least = float(expit(-_BOUND))

    def cost(logits: NDArray[np.float64]) -> float:
        return -log_likelihood(runs, *(float(each) for each in expit(logits)))

    # Losses are searched on their own scale, so that a bound that is best is reached and not approached for ever.
    def to_logits(searched: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate([searched[:2], logit(searched[2:] * scales[2:])])

    def searched_cost(searched: NDArray[np.float64]) -> float:
        return cost(to_logits(searched))

    fits = [
        minimize(
            searched_cost,
            np.array([*np.clip(logit([p * scale, r * scale]), -_BOUND, _BOUND), bad, good]),
            method="L-BFGS-B",
            bounds=[*[(-_BOUND, _BOUND)] * 2, (least, 1 - least), (least / share, (1 - least) / share)],
            options={"eps": _GRADIENT_STEP, "ftol": 1e-8},
        )
        for scale, bad, good in _STARTS
    ]
    best = min(fits, key=lambda each: float(each.fun))
    logits = to_logits(np.asarray(best.x, dtype=np.float64))
    if logits[2] < logits[3]:
        logits = logits[[1, 0, 3, 2]]
    ratio = max(0.0, 2 * (-cost(logits) - log_likelihood(runs, p, r, 1.0, 0.0)))
    estimates = _estimates(cost, logits, len(lost))
    return Hidden(estimates[0], estimates[1], estimates[2], estimates[3], float(chdtrc(2, ratio)))


def log_likelihood(runs: Runs, p: float, r: float, bad_loss: float, good_loss: float) -> float:
    """Logarithm of the probability of a sequence."""
    transition = np.array([[1 - p, p], [r, 1 - r]])
    received = np.array([[1 - good_loss], [1 - bad_loss]]) * transition
    lost = np.array([[good_loss], [bad_loss]]) * transition
    powers = np.empty((len(runs.lengths), 2, 2))
    logarithm = 0.0
    for fate, matrix in ((False, received), (True, lost)):
        chosen = runs.lost == fate
        powers[chosen], scale = _powers(matrix, runs.lengths[chosen])
        logarithm += scale
    product, scale = _product(powers)
    start = np.array([r, p]) / (p + r)
    probability = float((start @ product).sum())
    return logarithm + scale + math.log(probability) if probability > 0 else -math.inf


def _powers(matrix: Matrix, exponents: NDArray[np.int64]) -> tuple[Matrix, float]:
    """Powers of a 2x2 matrix without negative entries, by its eigenvalues, each without its logarithmic scale; and the
    sum of the scales."""
    (a, b), (c, d) = matrix.tolist()
    half, root = (a + d) / 2, math.sqrt(((a - d) / 2) ** 2 + b * c)
    first, second = half + root, half - root
    if root == 0 or first <= 0:
        return np.stack([np.linalg.matrix_power(matrix, int(each)) for each in exponents]), 0.0
    unit = np.eye(2)
    one, two = (matrix - second * unit) / (first - second), (first * unit - matrix) / (first - second)
    ratios = (second / first) ** exponents.astype(np.float64)
    return one + ratios[:, None, None] * two, float(exponents.sum()) * math.log(first)


def _product(matrices: Matrix) -> tuple[Matrix, float]:
    """The product in order, by pairs, without its logarithmic scale; and the scale."""
    logarithm = 0.0
    while len(matrices) > 1:
        if len(matrices) % 2:
            matrices = np.concatenate([matrices, np.eye(2)[None]])
        matrices = matrices[0::2] @ matrices[1::2]
        scale = np.maximum(matrices.max(axis=(1, 2)), 1e-300)
        matrices = matrices / scale[:, None, None]
        logarithm += float(np.log(scale).sum())
    return matrices[0], logarithm


def _estimates(cost: Cost, logits: NDArray[np.float64], n: int) -> Sequence[Estimate]:
    """Each probability with its interval: normal on the logit scale, from the curvature of the likelihood."""
    from scipy.special import expit, ndtri

    free = np.flatnonzero(np.abs(logits) < _AT_BOUND)
    errors = dict(zip(free.tolist(), _standard_errors(cost, logits, free), strict=True))
    z = float(ndtri(1 - (1 - LEVEL) / 2))
    estimates = []
    for index, value in enumerate(logits.tolist()):
        point, error = float(expit(value)), errors.get(index)
        if error is None:
            why = "at its bound" if index not in errors else "the likelihood is flat here"
            estimates.append(Estimate(float(round(point)) if index not in errors else point, None, None, LEVEL, n, why))
        else:
            low, high = float(expit(value - z * error)), float(expit(value + z * error))
            estimates.append(Estimate(point, low, high, LEVEL, n, "likelihood"))
    return estimates


def _standard_errors(cost: Cost, logits: NDArray[np.float64], free: NDArray[np.int64]) -> list[float | None]:
    """From the inverse of the matrix of second differences over the free parameters."""

    def moved(*steps: tuple[int, int]) -> float:
        shifted = logits.copy()
        for index, sign in steps:
            shifted[index] += sign * _STEP
        return cost(shifted)

    curvature = np.array(
        [
            [
                (
                    moved((i, 1), (j, 1)) - moved((i, 1), (j, -1)) - moved((i, -1), (j, 1)) + moved((i, -1), (j, -1))
                ) / (4 * _STEP**2)
                for j in free.tolist()
            ]
            for i in free.tolist()
        ]
    ).reshape(len(free), len(free))  # fmt: skip
    try:
        variances = np.diag(np.linalg.inv(curvature)).tolist()
    except np.linalg.LinAlgError:
        variances = [-1.0] * len(free)
    return [math.sqrt(variance) if 0 < variance < _FLAT**2 else None for variance in variances]
