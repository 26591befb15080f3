"""Parts of a plan that run on different machines: which trials each of them runs is a function of the plan alone."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from wirelab.errors import WirelabError
from wirelab.schema import Clock
from wirelab.schema.plan import Plan

OPTION = "--shard"
_WRITTEN = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True)
class Shard:
    """One of several parts, numbered from 1."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """Of `3/20`. Raises `WirelabError`."""
        found = _WRITTEN.fullmatch(text.strip())
        if found is None:
            raise WirelabError(f"is not a part of several ({text})", OPTION, "such as 3/20, the third of twenty")
        number, of = map(int, found.groups())
        if not 1 <= number <= of:
            raise WirelabError(f"there is no shard {number} of {of}", OPTION, f"from 1/{of} to {of}/{of}")
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def trials(self, plan: Plan) -> frozenset[str]:
        """The trials that it runs: every n-th unit. Raises `WirelabError` if there are more shards than units."""
        found = units(plan)
        if self.of > len(found):
            what = f"there are {len(found)} {_unit(plan)}s, too few for {self.of} shards"
            raise WirelabError(what, OPTION, f"at most N/{len(found)}")
        return frozenset(trial for unit in found[self.number - 1 :: self.of] for trial in unit)

    def part(self, plan: Plan, whole: Plan | None = None) -> Plan:
        """The plan with its own trials alone; `whole` is the plan that is divided, if some is left out of `plan`."""
        mine = self.trials(plan if whole is None else whole)
        blocks = (
            block.model_copy(update={"trials": tuple(each for each in block.trials if each.trial in mine)})
            for block in plan.blocks
        )
        # A block keeps its number, with whatever trials it has left.
        return plan.model_copy(update={"blocks": tuple(blocks)})


def divided(plan: Plan) -> Plan:
    """The plan without a budget by the clock, which no shard sees of the others. Raises `WirelabError` for a rule that
    stops by what all trials measured.
    """
    stop = plan.experiment.stop
    least, most = stop.replicates
    if stop.interval is not None and least < most:
        what = "no shard knows what the others measured, as stop.interval needs"
        raise WirelabError(what, OPTION, f"a fixed number of trials: --set stop.replicates={most}")
    fixed = stop.model_copy(update={"budget_ns": None, "interval": None, "replicates": (most, most)})
    return plan.model_copy(update={"experiment": plan.experiment.model_copy(update={"stop": fixed})})


def units(plan: Plan) -> list[list[str]]:
    """What is never divided: a trial under the virtual clock. In real time a block, whose scenarios are compared with
    each other, and share the machine and the hour.
    """
    if plan.clock is Clock.LIVE:
        return [[trial.trial for trial in block.trials] for block in plan.blocks]
    return [[trial.trial] for block in plan.blocks for trial in block.trials]


def lacking(plan: Plan, of: int, finished: Collection[str]) -> list[Shard]:
    """The shards of so many that have a trial which is not finished."""
    found, known = units(plan), set(finished)
    return [
        Shard(number, of)
        for number in range(1, of + 1)
        if any(trial not in known for unit in found[number - 1 :: of] for trial in unit)
    ]


def _unit(plan: Plan) -> str:
    return "block" if plan.clock is Clock.LIVE else "trial"
