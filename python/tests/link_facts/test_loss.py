"""What the agent says that impairments lose, against closed forms and simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.asked import chain

PAPER = {"kind": "gilbert-elliott", "p": 0.01, "r": 0.1, "bad_loss": 0.7, "good_loss": 0.001}
QUEUE = {"discipline": "drop-tail", "bytes": 1000}
FOUR = {"kind": "four-state", "p13": 0.02, "p31": 0.3, "p32": 0.2, "p23": 0.25, "p14": 0.01}


def long_run(stage: dict[str, Any]) -> tuple[float | None, float | None] | None:
    """Share and design effect."""
    model = chain(stage).stages[0].loss
    return None if model is None else (model.share, model.design_effect)


def share_below(probability: float, correlation: float) -> float:
    model = long_run({"kind": "loss", "probability": probability, "correlation": correlation})
    assert model is not None
    assert model[0] is not None
    return model[0]


def test_a_gilbert_elliott_channel_is_a_chain_of_two_states() -> None:
    """Closed forms: pi = p / (p + r); design effect 1 + 2 pi (1 - pi) (difference of losses)^2 (1 - p - r) / (p + r) /
    (mean (1 - mean)).
    """
    same = {"kind": "markov", "transitions": [[0.99, 0.01], [0.1, 0.9]], "loss": [0.001, 0.7]}
    model = long_run(PAPER)
    assert model == pytest.approx(long_run(same))
    mean, bad = 0.7 / 11 + 0.001 * 10 / 11, 1 / 11
    effect = 1 + 2 * bad * (1 - bad) * 0.699**2 * 0.89 / 0.11 / (mean * (1 - mean))
    assert model == pytest.approx((mean, effect))


def test_the_four_state_model_loses_the_same_share_as_netems() -> None:
    rng = np.random.default_rng(1)
    packets, state, lost = 400_000, 1, 0
    for draw in rng.random(packets):
        state = _next(state, float(draw))
        lost += state in (3, 4)
    model = long_run(FOUR)
    assert model is not None
    assert model[0] is not None
    assert model[1] is not None
    spread = (model[0] * (1 - model[0]) * model[1] / packets) ** 0.5
    assert abs(lost / packets - model[0]) < 4 * spread


def test_the_design_effect_is_the_variance_of_counts() -> None:
    rng = np.random.default_rng(2)
    transitions, loss = np.array([[0.9, 0.1, 0], [0.0, 0.7, 0.3], [0.5, 0, 0.5]]), np.array([0.0, 0.2, 0.9])
    model = chain({"kind": "markov", "transitions": transitions.tolist(), "loss": loss.tolist()}).stages[0].loss
    assert model is not None
    assert model.chain is not None
    stationary = np.array(model.chain.stationary)
    mean = float(stationary @ loss)
    assert model.share == pytest.approx(mean)
    runs, packets = 2000, 2000
    states = rng.choice(3, size=runs, p=stationary)
    lost = np.zeros(runs)
    for _ in range(packets):
        lost += rng.random(runs) < loss[states]
        states = (rng.random((runs, 1)) > np.cumsum(transitions, axis=1)[states]).sum(axis=1)
    assert float(np.var(lost)) / (packets * mean * (1 - mean)) == pytest.approx(model.design_effect, rel=0.12)


def test_unreachable_states_do_not_count() -> None:
    alone = {"kind": "four-state", "p13": 0, "p31": 0, "p32": 0, "p23": 0, "p14": 0.25}
    assert long_run(alone) == pytest.approx((0.2, 1.0))
    assert long_run({**PAPER, "p": 0, "r": 0}) == pytest.approx((0.001, 1.0))


@pytest.mark.parametrize("correlation", [0.0, 0.25, 0.9, 0.99, 1.0])
def test_correlated_draws_are_below_a_probability_as_often_as_netems(correlation: float) -> None:
    rng = np.random.default_rng(3)
    runs = 200_000
    draws = rng.random(runs)
    for _ in range(60 if correlation < 0.99 else 500):
        draws = (1 - correlation) * rng.random(runs) + correlation * draws
    if correlation == 1:
        draws = rng.random(runs)
    for probability in (0.01, 0.1, 0.4, 0.5, 0.95):
        share = float((draws < probability).mean())
        assert share_below(probability, correlation) == pytest.approx(share, abs=5 * (0.25 / runs) ** 0.5)


def test_correlation_keeps_probabilities_of_0_and_1() -> None:
    assert (share_below(0, 0.5), share_below(1, 0.5)) == (0, 1)


def test_correlated_loss_has_no_design_effect_that_is_known() -> None:
    model = long_run({"kind": "loss", "probability": 0.1, "correlation": 0.25})
    assert model is not None
    assert model[0] is not None
    assert model[0] < 0.1
    assert model[1] is None


@pytest.mark.parametrize(
    ("stage", "model"),
    [
        ({"kind": "loss", "probability": 0.1}, (0.1, 1.0)),
        ({"kind": "loss-pattern", "pattern": "0001", "repeat": True}, (0.25, 1.0)),
        ({"kind": "loss-pattern", "pattern": "0001", "repeat": False}, (0.0, 1.0)),
        (
            {"kind": "schedule", "queue": QUEUE, "points": [{"at_ns": 0, "loss": 0.1}, {"at_ns": 1, "loss": 0.1}]},
            (0.1, 1.0),
        ),
        ({"kind": "schedule", "queue": QUEUE, "points": [{"at_ns": 0, "loss": 0.1}, {"at_ns": 1}]}, (None, None)),
        ({"kind": "schedule", "queue": QUEUE, "points": [{"at_ns": 0, "rate_bps": 1}, {"at_ns": 1, "loss": 0}]}, None),
        (
            {"kind": "gilbert-elliott-time", "good_ns": 3 * 10**6, "bad_ns": 10**6, "bad_loss": 0.4, "good_loss": 0},
            (0.1, None),
        ),
        ({"kind": "corrupt", "probability": 0.1}, None),
    ],
)
def test_the_mean_loss_is_given_if_it_is_known(
    stage: dict[str, object], model: tuple[float | None, float | None] | None
) -> None:
    assert long_run(stage) == (None if model is None else pytest.approx(model))


def _next(state: int, draw: float) -> int:
    """Linux, net/sched/sch_netem.c: loss_4state."""
    p13, p31, p32, p23, p14 = (FOUR[name] for name in ("p13", "p31", "p32", "p23", "p14"))
    assert isinstance(p13, float) and isinstance(p14, float) and isinstance(p23, float)
    assert isinstance(p31, float) and isinstance(p32, float)
    match state:
        case 1:
            return 4 if draw < p14 else 3 if draw < p13 + p14 else 1
        case 2:
            return 3 if draw < p23 else 2
        case 3:
            return 2 if draw < p32 else 1 if draw < p31 + p32 else 3
    return 1
