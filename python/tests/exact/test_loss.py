"""Weights of loss models, next to their definitions."""

from __future__ import annotations

from itertools import product

import pytest

from wirelab.exact.loss import Draw, GilbertElliott, Independent, Loss, State


def _by_states(model: GilbertElliott, lost: tuple[bool, ...], initial_bad: float) -> float:
    """The sum over every sequence of states."""
    total = 0.0
    for states in product((False, True), repeat=len(lost)):
        weight = initial_bad if states[0] else 1 - initial_bad
        for at, (bad, gone) in enumerate(zip(states, lost, strict=True)):
            rate = model.bad_loss if bad else model.good_loss
            weight *= rate if gone else 1 - rate
            if at + 1 < len(lost):
                moves = (model.r if bad else model.p) if states[at + 1] != bad else 1 - (model.r if bad else model.p)
                weight *= moves
        total += weight
    return total


@pytest.mark.parametrize(("initial", "bad"), [("good", 0.0), ("bad", 1.0), ("stationary", 0.01 / 0.11)])
def test_gilbert_elliott_is_the_sum_over_all_states_of_twelve_packets(initial: State, bad: float) -> None:
    model = GilbertElliott(p=0.01, r=0.1, bad_loss=0.7, good_loss=0.001, initial=initial)
    for lost in [(False,) * 12, (True,) * 12, (False, True, True, False, False, True) * 2]:
        assert model.weight(lost) == pytest.approx(_by_states(model, lost, bad), rel=1e-12)


@pytest.mark.parametrize("model", [Independent(0.05), GilbertElliott(0.1, 0.4, 0.7, 0.01)])
def test_all_sequences_weigh_one(model: Independent | GilbertElliott) -> None:
    assert sum(model.weight(lost) for lost in product((False, True), repeat=8)) == pytest.approx(1, abs=1e-12)


def test_directions_do_not_know_of_each_other() -> None:
    loss = Loss(Independent(0.1), Independent(0.2))
    draws = [Draw("uplink", True, 0.0), Draw("downlink", False, 0.1), Draw("uplink", False, 0.2)]
    assert loss.weight(draws) == pytest.approx(0.1 * 0.9 * 0.8)


def test_a_chain_that_never_moves_stays_good() -> None:
    assert GilbertElliott(0.0, 0.0, 1.0, 0.0).weight([False] * 5) == 1.0
