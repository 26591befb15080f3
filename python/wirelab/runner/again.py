"""A campaign under the virtual clock, run anew: what differs from its records, if anything does."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import RunError, WirelabError
from wirelab.launcher import launched
from wirelab.runner.digest import trial_digests
from wirelab.runner.progress import Observer
from wirelab.runner.start import Options, run_plan
from wirelab.schema import Clock
from wirelab.schema.campaign import PAGES
from wirelab.schema.plan import Plan, Stop


@dataclass(frozen=True)
class Difference:
    """A file of a trial that is not the same in both; `names` are paths in the trial's folder."""

    trial: str
    names: tuple[str, ...]


def finished_part(plan: Plan, trials: Iterable[str]) -> Plan:
    """The same plan with these trials alone, all of which are run, whatever its stopping rule was.

    Raises `WirelabError` if they ran by the machine's clock, which no second run repeats.
    """
    if plan.clock is Clock.LIVE:
        raise WirelabError(
            "the campaign ran by this machine's clock, and no second run has the same bytes",
            hint=f"{launched('run FILE --clock virtual')} makes one that has",
        )
    known = set(trials)
    blocks = (
        block.model_copy(update={"trials": tuple(each for each in block.trials if each.trial in known)})
        for block in plan.blocks
    )
    kept = tuple(block for block in blocks if block.trials)
    stop = Stop(replicates=(len(kept), len(kept)), interval=None, budget_ns=None)
    return plan.model_copy(update={"blocks": kept, "experiment": plan.experiment.model_copy(update={"stop": stop})})


def run_again(campaign: Path, plan: Plan, folder: Path, options: Options, observer: Observer) -> list[Difference]:
    """Run these trials in another folder; the trials whose records are not the same."""
    if (campaign / PAGES).is_dir():
        shutil.copytree(campaign / PAGES, folder / PAGES)
    run_plan(plan, folder, options, None, observer)
    return list(_differences(campaign, folder, (trial.trial for block in plan.blocks for trial in block.trials)))


def _differences(campaign: Path, again: Path, trials: Iterable[str]) -> Iterator[Difference]:
    for trial in trials:
        one, other = trial_digests(campaign, trial), trial_digests(again, trial)
        if one and not other:
            raise RunError(f"trial {trial} has no records in the second run")
        if names := tuple(sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))):
            yield Difference(trial, names)
