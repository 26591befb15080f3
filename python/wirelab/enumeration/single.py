"""From an experiment to one exchange over a link that loses given packets: what is enumerated.

Scenarios that differ by their loss alone are one: their loss is another weight over the same runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wirelab.enumeration.link import NotEnumerableError, check, loss_of, patterned
from wirelab.enumeration.loss import Loss, State
from wirelab.errors import WirelabError
from wirelab.experiment.experiment import Experiment
from wirelab.experiment.grid.scenario import Scenario, label
from wirelab.experiment.link.without import without_slots
from wirelab.schema import Clock, LinkFacts, NewConnection, WorkloadSpec
from wirelab.schema.link_answer import AskLink
from wirelab.schema.workload import Periodic, RequestWorkload

MOST_PACKETS = 1000
"""An exchange with more has more patterns of two losses than anybody runs."""
SEGMENT_BYTES = 1400
"""About what a packet carries."""


@dataclass(frozen=True)
class Singles:
    """Scenarios of one exchange without a loss, and under which names and losses each is asked for."""

    experiment: Experiment
    losses: Mapping[str, Mapping[str, Loss]]
    """By the digest of a scenario's identity; empty for one whose link loses nothing."""
    stands_for: Mapping[str, Mapping[str, str]]
    """Digests of the experiment's scenarios, by the same digest and by the name of their loss."""
    links: Sequence[LinkFacts]
    """Those of the scenarios, without loss."""


def singles(experiment: Experiment, ask: AskLink, seeds: int, state: State = "stationary") -> Singles:
    """What is enumerated of an experiment, so many seeds of each.

    Raises `WirelabError` for a scenario that is no single exchange, or no function of the packets that are lost.
    """
    found: dict[str, list[Scenario]] = {}
    losses: dict[str, list[tuple[str, Loss | None]]] = {}
    for scenario in experiment.scenarios:
        try:
            single, loss = _single(scenario, ask, state)
        except NotEnumerableError as refusal:
            where = f"{experiment.source.shown}: {scenario.name}"
            raise WirelabError(refusal.what, where, refusal.hint) from None
        digest = single.digest()
        found.setdefault(digest, []).append(single)
        losses.setdefault(digest, []).append((scenario.digest(), loss))
    scenarios = tuple(_merged(alike) for alike in found.values())
    stop = experiment.stop.model_copy(update={"replicates": (seeds, seeds), "interval": None, "budget": None})
    single_experiment = replace(experiment, scenarios=scenarios, clock=Clock.VIRTUAL, stop=stop, claims=None)
    lossy = {
        digest: [(_loss_name(each, alike), own, loss) for each, (own, loss) in zip(alike, losses[digest], strict=True)]
        for digest, alike in found.items()
    }
    return Singles(
        single_experiment,
        {digest: {name: loss for name, _, loss in each if loss} for digest, each in lossy.items()},
        {digest: {name: scenario for name, scenario, loss in each if loss} for digest, each in lossy.items()},
        [ask(without_slots(each.link, "loss")) for each in scenarios],
    )


def _single(scenario: Scenario, ask: AskLink, state: State) -> tuple[Scenario, Loss | None]:
    if scenario.topology or scenario.traffic or scenario.origin is not None:
        raise NotEnumerableError("has more than a client, a link and a server", "enumerate one link with one client")
    if scenario.cpu or scenario.restart is not None:
        raise NotEnumerableError("limits CPU time, or restarts its server", "enumerate it without")
    facts = scenario.facts[0]
    check(scenario.link, facts)
    loss = loss_of(facts, state)
    link = patterned(scenario.link)
    single = replace(scenario, link=link, facts=(ask(link),), workload=_one(scenario.workload))
    return single, loss


def _one(workload: WorkloadSpec) -> WorkloadSpec:
    if max(workload.upload_bytes, *workload.downloads) > MOST_PACKETS * SEGMENT_BYTES:
        raise NotEnumerableError(
            f"an exchange has more than {MOST_PACKETS:,} packets: its patterns of losses are too many",
            "sample it (wirelab run --clock virtual), or enumerate a smaller transfer",
        )
    if not isinstance(workload, RequestWorkload):
        raise NotEnumerableError(
            "its messages wait for a subscriber, or it loads a page: neither is one exchange", 'kind = "telemetry"'
        )
    if not isinstance(workload.connection, NewConnection):
        raise NotEnumerableError(
            "an exchange depends on those before it on its connection", "--set workload.connection=new",
        )  # fmt: skip
    # The gap behind the message lets both ends fall silent: what a lost packet costs in bytes is known then.
    quiet = Periodic(interval_ns=workload.timeout_ns)
    one = {"exchanges": 1, "clients": 1, "concurrency": 1, "arrival": quiet, "retry": None}
    return workload.model_copy(update=one)


def _merged(alike: Sequence[Scenario]) -> Scenario:
    """Of scenarios that are one now, the first, by the levels that they share."""
    first = alike[0]
    if len(alike) == 1:
        return first
    levels = {path: level for path, level in first.levels.items() if _shared(path, level, alike)}
    name = ", ".join(label(path, level) for path, level in levels.items())
    points = tuple(point for each in alike for point in each.points)
    return replace(first, name=name, levels=levels, points=points)


def _loss_name(scenario: Scenario, alike: Sequence[Scenario]) -> str:
    """The levels by which it differs from those that are one with it, or its link."""
    own = {path: level for path, level in scenario.levels.items() if not _shared(path, level, alike)}
    return ", ".join(f"{path} {label(path, level)}" for path, level in own.items()) or f"link {scenario.link_name}"


def _shared(path: str, level: object, alike: Iterable[Scenario]) -> bool:
    return all(each.levels.get(path) == level for each in alike)
