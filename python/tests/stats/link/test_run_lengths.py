from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.asked import chain
from wirelab.schema.link_facts import LossChain
from wirelab.stats.link.run_lengths import run_distribution, run_lengths, run_test, simulate

IID = {"kind": "loss", "probability": 0.1}
BURSTY = {"kind": "gilbert-elliott", "p": 0.01, "r": 0.1, "bad_loss": 0.7, "good_loss": 0.001}
FOUR = {"kind": "four-state", "p13": 0.02, "p31": 0.3, "p32": 0.2, "p23": 0.4, "p14": 0.01}
MARKOV = {"kind": "markov", "transitions": [[0.9, 0.1], [0.4, 0.6]], "loss": [0.0, 1.0]}


def loss_chain(stage: dict[str, Any]) -> LossChain:
    model = chain(stage).stages[0].loss
    assert model is not None
    assert model.chain is not None
    return model.chain


def drawn(stage: dict[str, Any], packets: int, repetitions: int, seed: int) -> np.ndarray[Any, Any]:
    return simulate(loss_chain(stage), packets, repetitions, np.random.default_rng(seed))


def test_loss_runs_cut_by_the_ends_of_the_record_do_not_count() -> None:
    lost = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1], dtype=bool)
    assert run_lengths(lost).tolist() == [1, 3]
    assert run_lengths(np.zeros(5, dtype=bool)).tolist() == []
    assert run_lengths(np.ones(5, dtype=bool)).tolist() == []
    assert run_lengths(np.zeros(0, dtype=bool)).tolist() == []


def test_runs_of_independent_losses_are_geometric() -> None:
    distribution = run_distribution(loss_chain(IID))
    assert distribution is not None
    assert distribution[:4] == pytest.approx([0.9 * 0.1**k for k in range(4)])


def test_runs_of_a_simple_chain_are_geometric_in_its_own_probability_of_staying() -> None:
    distribution = run_distribution(loss_chain(MARKOV))
    assert distribution is not None
    assert distribution[:4] == pytest.approx([0.4 * 0.6**k for k in range(4)])


@pytest.mark.parametrize("stage", [BURSTY, FOUR])
def test_the_distribution_is_that_of_simulated_runs(stage: dict[str, Any]) -> None:
    lengths = np.concatenate([run_lengths(row) for row in drawn(stage, 20_000, 50, 5)])
    distribution = run_distribution(loss_chain(stage))
    assert distribution is not None
    for length in (1, 2, 3):
        assert (lengths == length).mean() == pytest.approx(distribution[length - 1], abs=0.01)


@pytest.mark.parametrize("stage", [IID, BURSTY, FOUR, MARKOV])
def test_p_values_under_the_model_are_no_smaller_than_uniform_ones(stage: dict[str, Any]) -> None:
    found = [run_test(loss_chain(stage), row) for row in drawn(stage, 5_000, 200, 11)]
    p = np.array([each.p for each in found if each is not None])
    assert len(p) > 150
    # Of 200: 10 below 0.05 at the nominal rate, and none below 1e-4 but with a chance of 1 in 50.
    assert (p < 0.05).sum() <= 22
    assert p.min() > 1e-5


def test_losses_of_another_model_are_caught() -> None:
    [bursts] = drawn(BURSTY, 20_000, 1, 3)
    alone = {"kind": "loss", "probability": float(bursts.mean())}
    found = run_test(loss_chain(alone), bursts)
    assert found is not None
    assert found.p < 1e-9
    assert found.measured > 2 * found.configured


def test_a_loss_that_is_not_a_packet_chain_has_no_run_lengths() -> None:
    in_time = {"kind": "gilbert-elliott-time", "good_ns": 10**6, "bad_ns": 10**6, "bad_loss": 0.5, "good_loss": 0}
    for stage in (in_time, {"kind": "loss", "probability": 0.1, "correlation": 0.5}):
        model = chain(stage).stages[0].loss
        assert model is not None
        assert model.chain is None


def test_a_chain_that_loses_nothing_has_no_runs() -> None:
    never = loss_chain({"kind": "loss", "probability": 0.0})
    assert run_distribution(never) is None
    assert run_test(never, np.ones(100, dtype=bool)) is None
