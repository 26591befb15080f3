"""The campaign that an explanation runs."""

from __future__ import annotations

from tests.asked import ask
from wirelab.answer.explain import Side, Swapped
from wirelab.answer.runs import SOME_TRIALS, campaign_of, needed, with_one_seed_a_block
from wirelab.experiment.experiment import Experiment, load_experiment
from wirelab.experiment.grid.scenario import Scenario
from wirelab.plan import make_plan


def made(*sets: str) -> tuple[Experiment, list[Scenario]]:
    experiment = load_experiment("message", ["protocol=https1", "link.rtt=20 ms, 60 ms", *sets], ask)
    first, second = experiment.scenarios
    sides = (Side.of(first, ask), Side.of(second, ask))
    return experiment, needed(sides, Swapped.of(first, second, experiment.scenarios))


def test_both_scenarios_come_first_and_each_is_there_once() -> None:
    experiment, found = made()
    assert {each.digest() for each in experiment.scenarios} == {each.digest() for each in found[:2]}
    digests = [each.digest() for each in found]
    assert len(set(digests)) == len(digests)
    # Without propagation both are over a link that does nothing.
    assert sum(not each.link.uplink for each in found) == len([each for each in found if "without" in each.name])


def test_the_campaign_has_a_fixed_number_of_trials_and_no_claims() -> None:
    experiment, scenarios = made("stop.replicates=2")
    found = campaign_of(experiment, scenarios)
    assert (found.name, found.stop.replicates, found.claims) == ("explain-message", (2, 2), None)
    assert found.capture
    assert not campaign_of(made("clock=live")[0], scenarios).capture
    ranged = campaign_of(made("stop.replicates=[3, 50]")[0], scenarios)
    assert ranged.stop.replicates == (SOME_TRIALS, SOME_TRIALS)


def test_the_trials_of_a_block_have_the_same_seeds() -> None:
    experiment, scenarios = made("stop.replicates=2")
    plan = with_one_seed_a_block(make_plan(campaign_of(experiment, scenarios)))
    for block in plan.blocks:
        assert len({(trial.link_seed, trial.endpoint_seed) for trial in block.trials}) == 1
    assert len({block.trials[0].link_seed for block in plan.blocks}) == len(plan.blocks)
