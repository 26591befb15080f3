"""Which interval of the share of lost messages is right, by simulation: the decision is in docs/design/decisions.md."""

from __future__ import annotations

import pytest

from tests.answer.choose.losses import MODELS, Losses, simulate, widths
from wirelab.answer.choose.measured import LEAST_TRIALS

REPETITIONS = 400


@pytest.mark.parametrize("losses", MODELS, ids=[each.name for each in MODELS])
def test_the_truth_of_a_model_is_what_it_draws(losses: Losses) -> None:
    import numpy as np

    drawn = losses.draw(20_000, np.random.default_rng(1))
    assert drawn.mean() == pytest.approx(losses.truth, rel=0.1, abs=3e-4)


@pytest.mark.parametrize("losses", MODELS, ids=[each.name for each in MODELS])
def test_the_interval_over_few_trials_holds_the_truth_however_losses_come(losses: Losses) -> None:
    for trials in (LEAST_TRIALS, 5):
        assert simulate(losses, trials, REPETITIONS)["over trials"].held >= 0.9


def test_an_interval_as_if_messages_were_independent_holds_the_truth_only_if_they_are() -> None:
    held = {each.name: simulate(each, 5, REPETITIONS)["by message"].held for each in MODELS}
    assert all(held[name] >= 0.93 for name in held if name.startswith("independent"))
    assert all(held[name] < 0.8 for name in held if not name.startswith("independent"))


def test_two_trials_say_nothing_of_a_share_and_three_do() -> None:
    assert widths(LEAST_TRIALS - 1, REPETITIONS) > 0.85
    assert widths(LEAST_TRIALS, REPETITIONS) < 0.45
