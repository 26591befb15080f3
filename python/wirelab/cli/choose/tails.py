"""How probable a late acknowledgement is over a link that loses packets: every pattern of lost packets, where that can
be enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wirelab.errors import WirelabError

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.cli.choose.work import Work
    from wirelab.enumeration.answer import Grown
    from wirelab.enumeration.question import Question
    from wirelab.schema.exact import ExactBounds
    from wirelab.schema.plan import Plan

MOST = 4
"""Choices that are enumerated: those of lowest rank that open a connection for each message."""
WITHIN = 0.005
"""How far apart the bounds may be."""
BUDGET_S = 60.0


def tails(work: Work) -> dict[str, ExactBounds]:
    """By the choice's name. Empty without a deadline, and over a link whose losses cannot be enumerated."""
    from wirelab.enumeration.answer import beyond
    from wirelab.enumeration.question import questions
    from wirelab.enumeration.single import singles
    from wirelab.link_facts import asking
    from wirelab.plan import make_plan

    evidence, deadline_ns = work.evidence(), work.asked.deadline_ns
    ranking = evidence.ranking(evidence.typical)
    if deadline_ns is None or ranking is None or not work.virtual:
        return {}
    single = {each.name: each for each in work.candidates if each.connection == "new" and each.builtin}
    members = [single[name] for name in ranking.order if name in single][:MOST]
    if not members:
        return {}
    with asking() as ask:
        nats = {each.name: work.network.nats[:1] or (None,) for each in members}
        loaded, scenarios = work.scenarios(members, work.network.links[:1], nats, ask)
        try:
            found = singles(loaded, ask, 1)
        except WirelabError:
            return {}
    plan = make_plan(found.experiment)
    asked = questions(plan, found, {}, (deadline_ns / 1e9,), WITHIN)
    if not asked:
        return {}
    grown = _grown(work, plan, asked, loaded.source.folder) if work.budget.left_s > 0 else None
    if grown is None:
        work.left_out("enumerating lost packets")
        return {}
    named = {scenario.name: run[0] for run, scenario in scenarios.items()}
    losses = {scenario.name: found.losses[scenario.identity] for scenario in plan.scenarios}
    return {named[each.name]: answer["bounds"] for each in grown for answer in beyond(each, losses[each.name])}


def _grown(work: Work, plan: Plan, asked: Sequence[Question], beside: Path) -> Sequence[Grown] | None:
    """All runs that the budget allows; None if it is too short for one of each choice."""
    from wirelab.cli.progress import LiveLine
    from wirelab.cli.terminate import terminated_as_interrupted
    from wirelab.metrics.draws import draws_of
    from wirelab.runner.exact import How, UnbegunError, enumerate_losses
    from wirelab.runner.start import virtual_jobs

    with terminated_as_interrupted() as check, LiveLine(work.console) as line:

        def tell(runs: int, elapsed_s: float, urgency: float, doing: str) -> None:
            check()
            line.show(
                min(1.0, 1 / max(urgency, 1e-9)), f"every pattern of lost packets: {runs} runs, {doing}", elapsed_s
            )

        budget_s = min(BUDGET_S, work.budget.left_s)
        jobs = work.jobs or virtual_jobs(plan).number
        how = How(budget_s, jobs, draws_of, tell, beside)
        try:
            return enumerate_losses(plan, work.folder / "tails", asked, how).grown
        except UnbegunError:
            return None
