"""What else could be changed, each alone on the choice that is first: what `choose` runs to see what matters more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, get_args

from wirelab.answer.choose.candidates import DELIVERIES, Candidate
from wirelab.answer.choose.delivery import delivers_worse, keeps_deadline
from wirelab.answer.choose.evidence import mean_of
from wirelab.answer.choose.experiments import Variant
from wirelab.answer.choose.measured import OfChoice, bounds_of
from wirelab.answer.choose.network import label
from wirelab.answer.choose.question import Asked, Delivery
from wirelab.schema.choose import Lever
from wirelab.units import format_size

if TYPE_CHECKING:
    from wirelab.answer.choose.evidence import Evidence
    from wirelab.cli.choose.work import Work

REPLICATES = 2
TO_KEEP_DEADLINE = 8
"""As many or more, if it is asked what keeps the deadline: of 5, none late of 23 messages each leaves it open."""
SIZES = (0.5, 2.0)
"""Of the message, as a share of what was asked."""


@dataclass(frozen=True)
class _Change:
    """What is run: the candidate that it makes of another, the variant, and how many readings a message has."""

    name: str
    of: Candidate
    candidate: Candidate
    variant: Variant
    asked: Asked
    readings: int = 1
    delay_s: float | None = None


def levers(work: Work) -> list[Lever]:
    """Of the first, of the first of those that are alike, or of the nearest to a deadline that none keeps. What the
    budget does not allow is left out.
    """
    evidence = work.evidence()
    ranking = evidence.ranking(evidence.typical)
    if (best_of := _best(evidence)) is None:
        return []
    best, without = best_of
    found = [*_policies(evidence, best, without)]
    of_best = evidence.of(best, evidence.typical)
    replicates = REPLICATES if ranking is not None or of_best is None else max(TO_KEEP_DEADLINE, of_best.trials)
    for change in _changes(work.asked, best):
        lever = _tried(work, change, without, replicates)
        if lever is None:
            work.left_out("trying everything else that may matter", work.lacking_trials)
            break
        found += [lever] if lever["value"] else []
    return sorted(found, key=lambda lever: lever["ratio"])


def _best(evidence: Evidence) -> tuple[Candidate, float] | None:
    """The choice that changes are tried on, and what it takes; None without any."""
    ranking = evidence.ranking(evidence.typical)
    name = evidence.nearest(evidence.typical) if ranking is None else ranking.order[0]
    best = next((each for each in evidence.candidates if each.name == name), None)
    without = None if best is None else mean_of(evidence.values(best, evidence.typical))
    return None if best is None or without is None else (best, without)


def _policies(evidence: Evidence, best: Candidate, without: float) -> Iterator[Lever]:
    """The same protocol with other connections."""
    for other in evidence.candidates:
        if other.protocol != best.protocol or other.name == best.name:
            continue
        found, own = evidence.of(other, evidence.typical), evidence.of(best, evidence.typical)
        if found is None or own is None or delivers_worse(found, own):
            continue
        if _value(evidence, found):
            change = _Change(_connected(other), best, other, Variant.of(evidence.asked), evidence.asked)
            yield _of_run(evidence, change, found, without)


def _connected(candidate: Candidate) -> str:
    kept = candidate.policy.removeprefix(candidate.connection)
    words = {
        "new": "a new connection for each message",
        "resumed": "a resumed session for each message",
        "persistent": "a persistent connection",
    }
    return f"{words[candidate.connection]}{kept}"


def radio_levers(evidence: Evidence) -> tuple[list[Lever], list[str]]:
    """One other setting of the radio each: of the same packets, or of a run of its own if the setting moves them. And
    the names of those that deliver worse, which are none.
    """
    levers, worse = list[Lever](), list[str]()
    if (best_of := _best(evidence)) is None:
        return levers, worse
    (best, without), network = best_of, evidence.network
    own = evidence.of(best, evidence.typical)
    equipment = evidence.equipments.get(evidence.typical.link)
    known = {} if equipment is None else equipment.radio.inputs
    for radio, inputs in network.radios.items():
        found = evidence.of(best, replace(evidence.typical, radio=radio))
        if len(network.changed(radio)) != 1 or own is None or found is None or radio not in found.energies:
            continue
        [key] = network.changed(radio)
        if key not in known:
            continue
        name, moves = f"{label(known[key])} {inputs[key]}", found is not own
        if moves and delivers_worse(found, own):
            worse.append(name)
            continue
        trials, before = found.energies[radio], own.energies[evidence.typical.radio]
        # Of the same packets: those of the trials that have it. A run of its own begins otherwise in each trial.
        compared = before if moves else {each: before[each] for each in trials}
        ratio = bounds_of(trials.values())["typical"] / bounds_of(compared.values())["typical"]
        lever = Lever(
            name=name, of=best.name, how="measured" if moves else "modelled", value=without * ratio, ratio=ratio,
            delay_s=None, within_deadline=found.within.record() if moves and found.within is not None else None,
            keeps_deadline=keeps_deadline(found) if moves else None,
        )  # fmt: skip
        levers.append(lever)
    return levers, worse


def _changes(asked: Asked, best: Candidate) -> Iterator[_Change]:
    own = Variant.of(asked)
    for readings in asked.batch:
        batched = replace(own, send_bytes=own.send_bytes * readings, every_ns=own.every_ns * readings)
        if asked.command_within_ns is not None and batched.every_ns > asked.command_within_ns:
            # Contacts would be too rare for a command.
            continue
        late_s = (readings - 1) * own.every_ns / 1e9
        yield _Change(f"{readings} readings in a message", best, best, batched, asked, readings, late_s)
    for share in SIZES:
        size = max(1, round(own.send_bytes * share))
        if size != own.send_bytes:
            yield _Change(f"a message of {format_size(size)}", best, best, replace(own, send_bytes=size), asked)
    other: Delivery = next(each for each in get_args(Delivery) if each != asked.delivery)
    settings = {**best.settings, **{key: value for key, value in DELIVERIES[other].items() if key in best.settings}}
    if settings != best.settings:
        yield _Change(
            other.replace("-", " "), best, replace(best, settings=settings), own, replace(asked, delivery=other)
        )


def _tried(work: Work, change: _Change, without: float, replicates: int) -> Lever | None:
    """None if the budget does not allow all of it; a value of 0 if nothing of it is known, or if it does not deliver
    as well."""
    nat = work.network.nats[:1] or (None,)
    folder = f"lever-{change.name.replace(' ', '-')}"
    runs = work.run(
        folder, [change.candidate], work.network.links[:1], {change.candidate.name: nat}, replicates,
        change.variant, change.asked,
    )  # fmt: skip
    if runs is None or work.lacking:
        return None
    evidence, found = work.evidence(), next(iter(runs.values()), None)
    own = evidence.of(change.of, evidence.typical)
    if found is not None and own is not None and delivers_worse(found, own):
        work.worse.append(change.name)
        found = None
    return _of_run(evidence, change, found, without)


def _of_run(evidence: Evidence, change: _Change, found: OfChoice | None, without: float) -> Lever:
    value, within = _value(evidence, found) / change.readings, None if found is None else found.within
    return Lever(
        name=change.name, of=change.of.name, how="measured", value=value, ratio=value / without, delay_s=change.delay_s,
        within_deadline=None if within is None else within.record(),
        keeps_deadline=None if found is None else _keeps_deadline(evidence, change, found),
    )  # fmt: skip


def _keeps_deadline(evidence: Evidence, change: _Change, found: OfChoice) -> bool | None:
    """None if it is not known: of what few trials or a little time decide, of messages that nothing answers, and of
    readings that wait for less than the deadline, because what remains of it was not compared.
    """
    if found.within is None or evidence.asked.deadline_ns is None:
        return None
    if change.delay_s is None:
        return keeps_deadline(found)
    return False if change.delay_s * 1e9 > evidence.asked.deadline_ns else None


def _value(evidence: Evidence, found: OfChoice | None) -> float:
    """What ranks, with typical constants; 0 if it is not known."""
    if found is None:
        return 0.0
    if evidence.criterion == "data":
        return fmean(found.data_bytes.values()) if found.data_bytes else 0.0
    of_radio = found.energies.get(evidence.typical.radio, {})
    return bounds_of(of_radio.values())["typical"] if of_radio else 0.0
