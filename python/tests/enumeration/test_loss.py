"""Weights of loss models, next to their definitions."""

from __future__ import annotations

from itertools import product

import pytest

from wirelab.enumeration.loss import Chain, Independent, Loss, State, gilbert_elliott
from wirelab.schema.exact import Draw


def _by_states(model: Chain, lost: tuple[bool, ...], start: tuple[float, ...]) -> float:
    """The sum over every sequence of states."""
    total = 0.0
    for states in product(range(len(start)), repeat=len(lost)):
        weight = start[states[0]]
        for at, (state, gone) in enumerate(zip(states, lost, strict=True)):
            weight *= model.loss[state] if gone else 1 - model.loss[state]
            if at + 1 < len(lost):
                weight *= model.transitions[state][states[at + 1]]
        total += weight
    return total


@pytest.mark.parametrize(("initial", "bad"), [("good", 0.0), ("bad", 1.0), ("stationary", 0.01 / 0.11)])
def test_gilbert_elliott_is_the_sum_over_all_states_of_twelve_packets(initial: State, bad: float) -> None:
    model = gilbert_elliott(p=0.01, r=0.1, bad_loss=0.7, good_loss=0.001, state=initial)
    for lost in [(False,) * 12, (True,) * 12, (False, True, True, False, False, True) * 2]:
        assert model.weight(lost) == pytest.approx(_by_states(model, lost, (1 - bad, bad)), rel=1e-12)


@pytest.mark.parametrize("model", [Independent(0.05), gilbert_elliott(0.1, 0.4, 0.7, 0.01)])
def test_all_sequences_weigh_one(model: Independent | Chain) -> None:
    assert sum(model.weight(lost) for lost in product((False, True), repeat=8)) == pytest.approx(1, abs=1e-12)


def test_a_chain_of_three_states_is_the_sum_over_all_of_them() -> None:
    rows = ((0.9, 0.1, 0.0), (0.3, 0.5, 0.2), (0.0, 0.6, 0.4))
    model = Chain((0.0, 0.2, 0.9), rows, (0.5, 0.3, 0.2))
    for lost in [(False,) * 7, (True, False, True, True, False, False, True)]:
        assert model.weight(lost) == pytest.approx(_by_states(model, lost, model.start), rel=1e-12)


def test_directions_do_not_know_of_each_other() -> None:
    loss = Loss(Independent(0.1), Independent(0.2))
    draws = [Draw("uplink", True, 0.0), Draw("downlink", False, 0.1), Draw("uplink", False, 0.2)]
    assert loss.weight(draws) == pytest.approx(0.1 * 0.9 * 0.8)


def test_a_chain_that_never_moves_stays_good() -> None:
    assert gilbert_elliott(0.0, 0.0, 1.0, 0.0).weight([False] * 5) == 1.0
