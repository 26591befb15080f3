"""From a link with random loss to one that loses given packets, and the loss model that the first one had.

Everything else about a link must be the same in each run, whatever is lost: a link that is random in another way is
refused, since its draws would have to be enumerated too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirelab.enumeration.loss import Chain, Independent, Loss, Process, State
from wirelab.schema import DirectionFacts, ImpairmentSpec, LinkFacts, LinkSpec, LossPattern, is_netem
from wirelab.schema.exact import WAYS, Direction
from wirelab.schema.link_facts import Facts, LossFacts
from wirelab.schema.link_spec import SLOTS

NOTHING = "0"
_SLOTS = tuple(dict.fromkeys(SLOTS.values()))


@dataclass(frozen=True)
class NotEnumerableError(Exception):
    """Why loss over a link cannot be enumerated, and what to do instead."""

    what: str
    hint: str


def patterned(link: LinkSpec) -> LinkSpec:
    """The same link with a stage in each direction that loses by a pattern, so far nothing, where its loss was."""
    stages: dict[str, object] = {way: _with_pattern(getattr(link, way)) for way in WAYS}
    return link.model_copy(update=stages)


def with_lost(link: LinkSpec, lost: Mapping[Direction, Sequence[bool]]) -> LinkSpec:
    """A patterned link on which the first packets of each direction are lost or pass so; all later ones pass."""
    digits = {way: "".join("01"[each] for each in lost[way]) or NOTHING for way in WAYS}
    stages: dict[str, object] = {
        way: tuple(_losing(stage, digits[way]) for stage in getattr(link, way)) for way in WAYS
    }
    return link.model_copy(update=stages)


def loss_of(facts: LinkFacts, state: State = "stationary") -> Loss | None:
    """The loss of a link as weights; None if it loses nothing. `state` is that of chains of two states at the first
    packet of an exchange.

    Raises `NotEnumerableError` if its loss is no matter of packets alone.
    """
    uplink, downlink = (_process(getattr(facts, way), state) for way in WAYS)
    if uplink is None and downlink is None:
        return None
    none = Independent(0.0)
    return Loss(uplink or none, downlink or none)


def check(link: LinkSpec, facts: LinkFacts) -> None:
    """Raises `NotEnumerableError` if a run over this link is no function of the packets that it loses."""
    if is_netem(link):
        raise NotEnumerableError("netem runs the link, and it draws its own random numbers", 'backend = "wirelab"')
    for way in WAYS:
        for stage in getattr(facts, way).stages:
            for what, hint in _random(stage):
                raise NotEnumerableError(f"its {way} {what}", hint)
    for shared in facts.shared:
        if shared.random or shared.contends or shared.frame_loss:
            what = f"its {shared.key} is random: {shared.words}"
            raise NotEnumerableError(
                what, "choose a link whose frames are not lost and do not collide, and give the loss here"
            )


def _with_pattern(stages: Sequence[ImpairmentSpec]) -> tuple[ImpairmentSpec, ...]:
    pattern = LossPattern(pattern=NOTHING, repeat=False)
    if any(SLOTS[stage.kind] == "loss" for stage in stages):
        return tuple(pattern if SLOTS[stage.kind] == "loss" else stage for stage in stages)
    before = sum(_SLOTS.index(SLOTS[stage.kind]) < _SLOTS.index("loss") for stage in stages)
    return (*stages[:before], pattern, *stages[before:])


def _losing(stage: ImpairmentSpec, digits: str) -> ImpairmentSpec:
    return stage.model_copy(update={"pattern": digits}) if isinstance(stage, LossPattern) else stage


def _process(direction: DirectionFacts, state: State) -> Process | None:
    found = [stage.loss for stage in direction.stages if stage.loss is not None]
    if len(found) > 1:
        raise NotEnumerableError("it loses packets at two stages of a direction", "keep one of them")
    return _weights(found[0], state) if found else None


def _weights(loss: LossFacts, state: State) -> Process:
    if loss.pattern is not None:
        raise NotEnumerableError("its losses are a pattern already", "remove loss-pattern: every pattern is run here")
    if loss.in_time is not None:
        raise NotEnumerableError(
            "its loss changes with time and not with packets", "gilbert-elliott changes with packets"
        )
    if loss.chain is not None:
        chain = loss.chain
        return Chain(chain.loss, chain.transitions, _start(chain.stationary, state))
    if loss.share is None or loss.design_effect != 1.0:
        raise NotEnumerableError(
            "successive losses are correlated by netem's recursion", "remove correlation, or gilbert-elliott"
        )
    return Independent(loss.share)


def _start(stationary: tuple[float, ...], state: State) -> tuple[float, ...]:
    if state == "stationary":
        return stationary
    if len(stationary) > 2:
        raise NotEnumerableError(
            "its loss has more than two states", "leave out the state: the stationary distribution holds"
        )
    return (1.0, 0.0) if state == "good" else (0.0, 1.0)


def _random(stage: Facts) -> Iterator[tuple[str, str]]:
    """What of a stage is random other than loss, or lets packets overtake, and what to do about it."""
    for chance, word in ((stage.corrupted, "corrupt"), (stage.duplicated, "duplicate"), (stage.held_back, "reorder")):
        if chance is not None and chance.probability:
            yield f"is random: {stage.words}", f"remove {word}"
    if stage.delay is not None and stage.delay.random:
        yield f"is random: {stage.words}", "remove jitter"
    if stage.over_time is not None and any(point.loss for point in stage.over_time.points):
        yield f"loses by time: {stage.words}", "remove loss from its schedule, and give it here"
    if stage.queue is not None and stage.queue.fair:
        yield f"has a queue that lets packets overtake: {stage.words}", 'queue = { discipline = "drop-tail" }'
