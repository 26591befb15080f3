"""The record of an enumeration: everything that `exact.json` has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirelab import __version__
from wirelab.enumeration import answer
from wirelab.enumeration.answer import Grown
from wirelab.schema.exact import EXACT_VERSION, Exact, ExactScenario, LossModel
from wirelab.schema.plan import Plan


@dataclass(frozen=True)
class About:
    """What the record says of the runs: links without their loss, workloads, kernel and radios in words, and how long
    the call took.
    """

    links: Sequence[str]
    workloads: Sequence[str]
    kernel: str
    radios: Sequence[str]
    seconds: float


def record(
    plan: Plan, grown: Sequence[Grown], scenarios: Sequence[ExactScenario], beyond_s: Sequence[float], about: About
) -> Exact:
    """`scenarios` are the records of what was `grown`, one each; `beyond_s` the delays that were asked for, in seconds,
    ascending.
    """
    names = dict.fromkeys(name for each in grown for name in answer.models(each))
    within = {name: asked.within for each in grown for name, asked in each.asked.items()}
    return Exact(
        schema_version=EXACT_VERSION,
        version=__version__,
        experiment=plan.experiment.name,
        title=plan.experiment.title,
        links=[*dict.fromkeys(about.links)],
        workloads=[*dict.fromkeys(about.workloads)],
        kernel=about.kernel,
        radios=[*dict.fromkeys(about.radios)],
        losses=[LossModel(name=name, within=within.get(name)) for name in names],
        bounded=all(map(answer.bounded, grown)),
        horizon_s=beyond_s[-1],
        rates=[*answer.RATES],
        delays_s=answer.delays_s(beyond_s[-1]),
        runs=sum(len(each.tree.runs) + sum(len(rest.runs) for rest in each.rests.values()) for each in grown),
        seconds=about.seconds,
        scenarios=[*scenarios],
        over_seeds=[*answer.over_seeds((each["name"], each["beyond"]) for each in scenarios)],
        crossovers=answer.crossed({each.name: each.tree for each in grown if each.seed == 1}, beyond_s),
    )
