"""The record of an explanation: everything that `explain.json` has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from wirelab import __version__
from wirelab.answer import explain
from wirelab.answer.explain import Side, Swapped
from wirelab.answer.measured import energy, measured, radio, spent
from wirelab.errors import RunError
from wirelab.experiment.experiment import Experiment
from wirelab.experiment.grid.scenario import Scenario
from wirelab.launcher import launched
from wirelab.schema.explain import EXPLAINED_VERSION, Explained, Mean
from wirelab.schema.explain import Side as SideRecord
from wirelab.stats.dataset import Dataset

Words = Callable[[Scenario], tuple[str, str]]
"""Gives the link and the workload of a scenario in words."""


@dataclass(frozen=True)
class Campaign:
    """What was run: the dataset, and the keys of its plan by the digests of scenarios."""

    dataset: Dataset
    keys: Mapping[str, str]


def record(
    experiment: Experiment, sides: tuple[Side, Side], swapped: Swapped, campaign: Campaign, words: Words
) -> Explained:
    """Raises `RunError` if no trial has a completed exchange in every scenario."""
    found = measured(campaign.dataset, campaign.keys)
    replicates = explain.counted(sides, found)
    if not replicates:
        what = "no trial has a completed exchange in every scenario, so that nothing can be compared"
        raise RunError(what, hint=launched(f"show {campaign.dataset.folder}"))
    difference, shares = explain.shares(*sides, found, replicates)
    first, second = (
        _side(side.scenario, campaign, (found.mean(side.scenario, replicates), len(replicates)), words)
        for side in sides
    )
    return Explained(
        schema_version=EXPLAINED_VERSION,
        version=__version__,
        experiment=experiment.name,
        title=experiment.title,
        clock=experiment.clock.value,
        first=first,
        second=second,
        difference_s=difference,
        shares=shares,
        levels=explain.of_levels(swapped, found),
        what_ifs=[each for side in sides for each in explain.what_ifs(side, found)],
        warnings=[*explain.warnings((first, second)), *_lost_trials(campaign.dataset)],
    )


def _lost_trials(dataset: Dataset) -> Iterable[str]:
    for scenario in dataset.scenarios:
        outcomes = dataset.outcomes(scenario.key)
        if lost := outcomes["failed_trials"] + outcomes["excluded_trials"]:
            total = outcomes["trials"] + outcomes["excluded_trials"]
            yield f"{scenario.name}: {lost} of {total} trials failed, or are left out."
        if outcomes["failed"]:
            failed = f"{outcomes['failed']:,} of {outcomes['exchanges']:,} exchanges failed"
            yield f"{scenario.name}: {failed}. They have no time and are left out."


def _side(scenario: Scenario, campaign: Campaign, of: tuple[Mean, int], words: Words) -> SideRecord:
    dataset, key = campaign.dataset, campaign.keys[scenario.digest()]
    outcomes, (link, workload) = dataset.outcomes(key), words(scenario)
    return SideRecord(
        name=scenario.name,
        protocol=scenario.protocol,
        client=scenario.implementation["client"],
        server=scenario.implementation["server"],
        link=link,
        workload=workload,
        mean_s=of[0],
        trials=of[1],
        exchanges=outcomes["exchanges"],
        completed=outcomes["completed"],
        timed_out=outcomes["timed-out"],
        radio=radio(dataset, scenario.link_name),
        energy=energy(dataset, key),
        spent=spent(dataset, key),
    )
