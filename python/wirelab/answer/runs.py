"""What is run to explain a difference: a campaign of its own, of both scenarios with every intervention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from wirelab.answer.explain import Side, Swapped, with_one_seed
from wirelab.experiment.experiment import Experiment
from wirelab.experiment.grid.scenario import Scenario
from wirelab.schema import Clock, is_netem
from wirelab.schema.plan import Plan

CAMPAIGN = "explain-"
"""Before the experiment's name in that of the campaign: its folder is of nothing else."""
SOME_TRIALS = 10
"""Of each scenario, where the experiment has a range."""


def needed(sides: Iterable[Side], swapped: Swapped) -> list[Scenario]:
    """All that has to be run, each once: both as they are first."""
    each = [*sides]
    everything = [*(side.scenario for side in each), *swapped.mixed.values()]
    everything += [scenario for side in each for scenario in side.scenarios()]
    distinct: dict[str, Scenario] = {}
    for scenario in everything:
        distinct.setdefault(scenario.digest(), scenario)
    return [*distinct.values()]


def campaign_of(experiment: Experiment, scenarios: Sequence[Scenario]) -> Experiment:
    """An experiment of these scenarios alone, with a fixed number of trials and no claims."""
    trials = _replicates(experiment)
    stop = experiment.stop.model_copy(update={"replicates": (trials, trials), "interval": None, "budget": None})
    # Captures say what bytes were spent on. They take CPU time, which counts under the live clock alone.
    capture = experiment.clock is Clock.VIRTUAL and not any(is_netem(each.link) for each in scenarios)
    return replace(
        experiment, name=f"{CAMPAIGN}{experiment.name}", stop=stop, claims=None, factors={}, choices={},
        interpretations={}, scenarios=tuple(scenarios), capture=capture,
    )  # fmt: skip


def with_one_seed_a_block(plan: Plan) -> Plan:
    """The plan in which all trials of a block have the random numbers of one."""
    blocks = (block.model_copy(update={"trials": with_one_seed(block.trials)}) for block in plan.blocks)
    return plan.model_copy(update={"blocks": tuple(blocks)})


def _replicates(experiment: Experiment) -> int:
    """The experiment's own number; of a range a few."""
    least, most = experiment.stop.replicates
    return most if least == most else min(most, max(least, SOME_TRIALS))
