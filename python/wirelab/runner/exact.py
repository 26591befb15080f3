"""From single exchanges to their runs: opens the folder and the guests, enumerates, then samples what is left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wirelab import agent as agents
from wirelab.clock.guest import memory_folder
from wirelab.clock.kernel import Kernel, require_kernel
from wirelab.enumeration.answer import Grown
from wirelab.enumeration.question import Question
from wirelab.enumeration.rest import Rest
from wirelab.enumeration.search import Search
from wirelab.enumeration.tree import Pattern, Run
from wirelab.errors import RunError, WirelabError
from wirelab.plan import stable_hash
from wirelab.runner.disk import faults_as_errors
from wirelab.runner.entries import needed_programs
from wirelab.runner.enumeration import Enumeration, Sampled, Samples, Singles
from wirelab.runner.lock import locked
from wirelab.runner.own_agent import own_agent
from wirelab.runner.patterns import Patterns, Read, Subject, known_in, pattern_name, trial_name
from wirelab.runner.start import Programs, opened_lanes
from wirelab.schema.campaign import PLAN, TRIALS
from wirelab.schema.exact import PATTERNS
from wirelab.schema.plan import Plan
from wirelab.schema.replaced import replace_file

ENUMERATED_SHARE = 0.75
"""Of the budget, if enumeration alone does not bound what is asked for."""
MOST_SAMPLES = 20_000


class UnbegunError(RunError):
    """The budget ended before each scenario was run once."""


@dataclass(frozen=True)
class _Begun:
    """One scenario with one seed, of which some is run."""

    question: Question
    subject: Subject
    search: Search
    rests: Mapping[str, Rest] = field(default_factory=dict)


@dataclass(frozen=True)
class How:
    """How long it may take, how many guests run at a time, how a run is read, and who hears of its progress: how many
    runs were made in how many seconds, how many times as wide as they may be the widest bounds are, and what is being
    done. It may raise. `beside` is the experiment's folder, where the user's own `implementations.toml` may be.
    """

    budget_s: float
    jobs: int
    read: Read
    tell: Callable[[int, float, float, str], None]
    beside: Path | None = None


@dataclass(frozen=True)
class Found:
    """All runs of each scenario with each seed, the kernel that they had, and how long this call took."""

    grown: Sequence[Grown]
    kernel: Kernel
    seconds: float


def enumerate_losses(plan: Plan, folder: Path, questions: Sequence[Question], how: How) -> Found:
    """Every scenario with every seed of a plan, in a folder that keeps their runs.

    Raises `RunError` for a run that fails, or that is no function of the packets that are lost.
    """
    began, (kernel, memory) = time.monotonic(), (require_kernel(), memory_folder(how.jobs))
    found, folder = agents.find_agent(), folder.resolve()
    implementations = needed_programs(plan, how.beside)
    with faults_as_errors(folder.parent if not folder.exists() else folder):
        (folder / TRIALS).mkdir(parents=True, exist_ok=True)
        with locked(folder), own_agent(folder, found, virtual=True) as agent:
            _begin(folder, agents.digest(agent), kernel.recipe)
            replace_file(folder / PLAN, json.dumps(plan.to_json(), indent=1) + "\n")
            programs = Programs(agent, implementations, {}, (kernel, memory))
            with opened_lanes(plan, folder, how.jobs, programs) as lanes:
                patterns = Patterns(lanes.host, lanes.endpoints, folder, how.jobs, how.read, known_in(folder))
                made = _enumerated(plan, questions, patterns, how)
            return Found([_grown(each, patterns.known) for each in made], kernel, time.monotonic() - began)


def _begin(folder: Path, agent: str, recipe: str) -> None:
    """Write the first line of the journal, or refuse a folder whose runs another program or kernel made."""
    path, ours = folder / PATTERNS, {"agent": agent, "kernel": recipe}
    if not path.exists() or not path.stat().st_size:
        path.write_text(json.dumps(ours) + "\n", encoding="utf-8")
        return
    with path.open(encoding="utf-8") as file:
        first = json.loads(file.readline())
    if first != ours:
        what = "kernel of the virtual clock" if first.get("agent") == agent else "build of wirelab-agent"
        raise WirelabError(f"{folder} has runs of another {what}", hint="name another folder with --out")


def _grown(each: _Begun, known: Mapping[tuple[str, str], Run]) -> Grown:
    """With all packets of the runs whose records are kept."""
    scenario, trial, tree = each.subject.scenario, each.subject.trial, each.search.tree
    whole = {(): known[trial.trial, pattern_name(())], **_singles(each, known)}
    return Grown(
        name=scenario.name, protocol=scenario.protocol, client=scenario.implementation.client,
        server=scenario.implementation.server, seed=trial.replicate + 1, trial=trial_name(trial, pattern_name(())),
        asked=each.question.losses, beyond_s=each.question.beyond_s, tree=tree, rests=each.rests,
        whole=whole,
        stands_for=each.question.stands_for,
        kept={pattern: trial_name(trial, pattern_name(pattern)) for pattern in whole},
    )  # fmt: skip


def _singles(each: _Begun, known: Mapping[tuple[str, str], Run]) -> dict[Pattern, Run]:
    """Runs that lose one packet alone."""
    trial = each.subject.trial.trial
    packets = range(len(known[trial, pattern_name(())].draws))
    found = {(at,): known.get((trial, pattern_name((at,)))) for at in packets}
    return {pattern: run for pattern, run in found.items() if run is not None}


def _subjects(plan: Plan, questions: Sequence[Question]) -> Iterator[_Begun]:
    """Each scenario with each of its seeds, nothing of which was run."""
    trials = [trial for block in plan.blocks for trial in block.trials]
    for question in questions:
        for trial in trials:
            if trial.scenario == question.scenario.key:
                search = Search([*question.losses.values()], question.beyond_s)
                yield _Begun(question, Subject(question.scenario, trial), search)


def _enumerated(plan: Plan, questions: Sequence[Question], patterns: Patterns, how: How) -> list[_Begun]:
    began, made, found = time.monotonic(), 0, [*_subjects(plan, questions)]

    def heard(urgency: float, doing: str) -> None:
        nonlocal made
        made += 1
        how.tell(made, time.monotonic() - began, urgency, doing)

    def over(share: float) -> Callable[[], bool]:
        return lambda: time.monotonic() - began > share * how.budget_s

    searches = [(each.subject, each.search) for each in found]
    patterns.run(Enumeration(searches, lambda urgency: heard(urgency, "enumerating")), over(ENUMERATED_SHARE))
    if unbegun := next((each for each in found if not each.search.tree.runs), None):
        what = f"{unbegun.subject.scenario.name} was not run even once within the budget"
        raise UnbegunError(what, hint="a longer --budget; the same command continues")
    roots = [(each.subject, patterns.known[each.subject.trial.trial, pattern_name(())]) for each in found]
    patterns.run(Singles(roots, patterns.known), over(1.0))
    for each in found:
        if each.search.urgency > 1:
            each.search.add_known(_singles(each, patterns.known))
    found = [_with_rests(each, plan.seed) if each.search.urgency > 1 else each for each in found]
    rests = [
        Sampled(each.subject, name, rest, each.question.losses[name].within, each.question.beyond_s)
        for each in found
        for name, rest in each.rests.items()
    ]
    if rests:
        patterns.run(Samples(rests, lambda urgency: heard(urgency, "sampling the rest"), MOST_SAMPLES), over(1.0))
    return found


def _with_rests(each: _Begun, seed: int) -> _Begun:
    """With a rest for each loss model whose bounds are too far apart."""
    search, question = each.search, each.question
    rests = {
        name: Rest(search.tree, asked.loss, stable_hash(seed, each.subject.trial.trial, name))
        for at, (name, asked) in enumerate(question.losses.items())
        if search.left(at) > asked.within
    }
    return replace(each, rests=rests)
