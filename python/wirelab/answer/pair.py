"""Which two scenarios are explained, and whether they can be."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.errors import WirelabError, did_you_mean
from wirelab.experiment.experiment import Experiment
from wirelab.experiment.grid.scenario import Scenario, label
from wirelab.schema import PageLoads
from wirelab.schema.workload import RequestWorkload

MOST_LISTED = 8


def pair_of(experiment: Experiment, first: str, second: str) -> tuple[Scenario, Scenario]:
    """A and B by their names, or by a level that only one scenario has. Raises `WirelabError` for a word that is none
    or several, for one scenario twice, and for scenarios that have no phases or several links.
    """
    a, b = (_scenario(experiment, words) for words in (first, second))
    if a is b:
        raise WirelabError(f"A and B are one scenario: {a.name}", hint="name two that differ")
    for scenario in (a, b):
        if not isinstance(scenario.workload, RequestWorkload | PageLoads):
            what = f"{scenario.name}: its exchanges have no phases ({scenario.workload.kind})"
            raise WirelabError(what, hint="explain request-response, telemetry or page")
        if len(scenario.links) > 1:
            raise WirelabError(f"{scenario.name} has several links", hint="explain a client, a link and a server")
    return a, b


def _scenario(experiment: Experiment, words: str) -> Scenario:
    named = [each for each in experiment.scenarios if each.name == words]
    found = named or [
        each for each in experiment.scenarios if words in {label(path, level) for path, level in each.levels.items()}
    ]
    names = [each.name for each in found or experiment.scenarios]
    if len(found) == 1:
        return found[0]
    if found:
        raise WirelabError(f"{words} may be {len(found)} scenarios", hint=f"name one of them: {_listed(names)}")
    hint = did_you_mean(words, names) or f"scenarios: {_listed(names)}"
    raise WirelabError(f"{experiment.source.shown} has no scenario {words}", hint=hint)


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names[:MOST_LISTED]]
    return ", ".join(quoted) + (f", and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else "")
