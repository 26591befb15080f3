"""What a kind of loss does in the long run: its share of packets, and how much wider than binomial counts spread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Json = Mapping[str, Any]
Floats = NDArray[np.float64]

_TERMS = 4096
"""Terms of the Fourier series of a correlated draw's distribution."""
_PAST = 200
"""Draws of the past that are counted one by one; those before are normal together."""


def long_run(stage: Json) -> tuple[float | None, float | None] | None:
    """Loss and design effect of a stage, each None where it depends on the sender's timing or is not known. None for a
    stage that loses nothing on purpose; a pattern that does not repeat loses nothing in the long run.
    """
    match stage["kind"]:
        case "loss":
            correlation = stage.get("correlation", 0.0)
            return share_below(stage["probability"], correlation), None if correlation else 1.0
        case "gilbert-elliott" | "four-state" | "markov":
            transitions, loss = _chain(stage)
            at = stationary(transitions)
            return float(at @ loss), design_effect(transitions, loss)
        case "gilbert-elliott-time":
            good, bad = stage["good_ns"], stage["bad_ns"]
            share = bad / (good + bad)
            return share * stage["bad_loss"] + (1 - share) * stage["good_loss"], None
        case "loss-pattern":
            return stage["pattern"].count("1") / len(stage["pattern"]) if stage["repeat"] else 0.0, 1.0
        case "schedule":
            losses = {point.get("loss") or 0.0 for point in stage["points"]}
            if losses != {0.0}:
                return (losses.pop(), 1.0) if len(losses) == 1 else (None, None)
    return None


def share_below(probability: float, correlation: float) -> float:
    """How often netem's correlated draws are below `probability`: uniform ones are as often as it says.

    A draw is (1 - c) x the sum of c^k x uniform ones. Its distribution on [0, 1] is a Fourier series whose coefficients
    are products of sinc.
    """
    if correlation in (0, 1) or not 0 < probability < 1:
        return probability
    return float(_distribution(np.array([probability]), correlation)[0])


def draw_weights(edges: Floats, correlation: float) -> Floats:
    """Share of netem's correlated draws between successive edges, from 0 to 1."""
    if correlation in (0, 1):
        return np.diff(edges)
    inner = np.clip(_distribution(edges[1:-1], correlation), 0, 1)
    return np.maximum(np.diff(np.concatenate(([0.0], inner, [1.0]))), 0)


def stationary(transitions: Floats) -> Floats:
    """Long-run share of each state, from the first state on."""
    reached = _reached(transitions)
    inside = transitions[np.ix_(reached, reached)]
    equations = np.vstack([inside.T - np.eye(len(reached)), np.ones(len(reached))])
    solved = np.linalg.lstsq(equations, np.append(np.zeros(len(reached)), 1.0), rcond=None)[0]
    shares = np.zeros(len(transitions))
    shares[reached] = np.clip(solved, 0, None)
    return np.asarray(shares / shares.sum())


def design_effect(transitions: Floats, loss: Floats) -> float:
    """Variance of a long run's loss count over that of independent loss: 1 + 2 x the sum of autocorrelations, by the
    chain's fundamental matrix (Kemeny and Snell, Finite Markov Chains, 4.3); at least 1.
    """
    at = stationary(transitions)
    mean = float(at @ loss)
    if not 0 < mean < 1:
        return 1.0
    reached = _reached(transitions)
    inside, shares, losses = transitions[np.ix_(reached, reached)], at[reached], loss[reached]
    fundamental = np.linalg.inv(np.eye(len(reached)) - inside + shares)
    covariances = float((shares * losses) @ (fundamental @ losses - losses))
    return max(1.0, 1 + 2 * covariances / (mean * (1 - mean)))


def design_effect_in_time(stage: Json, arrival_ns: NDArray[np.int64]) -> float:
    """That of `gilbert-elliott-time` for packets of these instants, in order: states of two instants are correlated by
    exp(-t (1 / good + 1 / bad)).
    """
    good, bad = stage["good_ns"], stage["bad_ns"]
    share = bad / (good + bad)
    mean = share * stage["bad_loss"] + (1 - share) * stage["good_loss"]
    if not 0 < mean < 1 or not len(arrival_ns):
        return 1.0
    kept = np.exp(-np.diff(arrival_ns) * (1 / good + 1 / bad))
    reach = total = 0.0
    for correlation in kept.tolist():
        reach = (reach + 1) * correlation
        total += reach
    states = share * (1 - share) * (stage["bad_loss"] - stage["good_loss"]) ** 2
    return float(max(1.0, 1 + 2 * states * total / (len(arrival_ns) * mean * (1 - mean))))


def loss_chain(stage: Json) -> tuple[Floats, Floats] | None:
    """Transitions and loss of each state of a loss that moves with each packet; None of any other stage."""
    match stage["kind"]:
        case "loss" if not stage.get("correlation", 0.0):
            return np.ones((1, 1)), np.array([stage["probability"]], dtype=np.float64)
        case "gilbert-elliott" | "four-state" | "markov":
            return _chain(stage)
    return None


def _chain(stage: Json) -> tuple[Floats, Floats]:
    match stage["kind"]:
        case "gilbert-elliott":
            p, r = stage["p"], stage["r"]
            return np.array([[1 - p, p], [r, 1 - r]]), np.array([stage["good_loss"], stage["bad_loss"]])
        case "four-state":
            p13, p31, p32, p23, p14 = (stage[name] for name in ("p13", "p31", "p32", "p23", "p14"))
            rows = [[1 - p13 - p14, 0, p13, p14], [0, 1 - p23, p23, 0], [p31, p32, 1 - p31 - p32, 0], [1, 0, 0, 0]]
            return np.array(rows, dtype=np.float64), np.array([0.0, 0.0, 1.0, 1.0])
    return np.array(stage["transitions"], dtype=np.float64), np.array(stage["loss"], dtype=np.float64)


def _reached(transitions: Floats) -> list[int]:
    found, border = {0}, {0}
    while border:
        border = {int(other) for state in border for other in np.flatnonzero(transitions[state] > 0)} - found
        found |= border
    return sorted(found)


def _distribution(values: Floats, correlation: float) -> Floats:
    terms = np.arange(1, _TERMS + 1, dtype=np.float64)
    factors = np.ones(_TERMS)
    for past in range(_PAST):
        factors *= np.sinc(terms * (1 - correlation) * correlation**past)
    left = (1 - correlation) * correlation ** (2 * _PAST) / (1 + correlation) / 12
    factors *= np.exp(-2 * np.pi**2 * terms**2 * left) / (np.pi * terms)
    waves = np.sin(2 * np.pi * np.outer(values - 0.5, terms))
    return np.asarray(values + waves @ factors)
