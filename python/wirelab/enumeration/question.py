"""What is asked of scenarios: under which losses, how far apart bounds may be, and of which delays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wirelab.enumeration.search import Asked
from wirelab.enumeration.single import Singles
from wirelab.schema.plan import Plan, Scenario


@dataclass(frozen=True)
class Question:
    """What is asked of one scenario: loss models by their names, how far apart bounds may be, and of which delays.
    `stands_for` has digests of the experiment's scenarios by the loss that is theirs.
    """

    scenario: Scenario
    losses: Mapping[str, Asked]
    beyond_s: Sequence[float]
    stands_for: Mapping[str, str] = field(default_factory=dict)


def questions(
    plan: Plan, single: Singles, given: Mapping[str, Asked], beyond_s: Sequence[float], within: float
) -> list[Question]:
    """One of each scenario of a plan that has a loss: `given` ones, and with bounds `within` apart those of its own
    link. `beyond_s` are delays in seconds, ascending.
    """
    found = []
    for scenario in plan.scenarios:
        own = {name: Asked(loss, within) for name, loss in single.losses[scenario.identity].items()}
        if losses := {**given, **own}:
            found.append(Question(scenario, losses, beyond_s, single.stands_for[scenario.identity]))
    return found
