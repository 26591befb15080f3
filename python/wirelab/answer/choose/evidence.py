"""Everything that was measured for an answer, and what of it can be ranked. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from wirelab.answer.choose.candidates import Candidate
from wirelab.answer.choose.delivery import (
    loses,
    misses_deadline,
    near_deadline,
    needs_trials,
    not_comparable,
    share_of,
    surely_misses_deadline,
)
from wirelab.answer.choose.measured import OfChoice
from wirelab.answer.choose.network import Nat, Network, Place
from wirelab.answer.choose.question import Asked
from wirelab.answer.choose.ranking import Parts, Ranking, exactly, is_settled, ranked
from wirelab.metrics.energy_settings import Equipment
from wirelab.schema.choose import Apart, Criterion, Lever, WinnerMap
from wirelab.schema.exact import ExactBounds
from wirelab.stats.estimate.model import Estimate

FAR = 3.0
"""What takes more than so many times the lowest is not computed with other settings of the radio."""
SEED = 1

Run = tuple[str, str, Nat | None]
"""A choice by its name, its link, and its NAT."""


@dataclass(frozen=True)
class Evidence:
    """Everything that was measured: under the typical settings and others, by what was run."""

    asked: Asked
    network: Network
    candidates: Sequence[Candidate]
    equipments: Mapping[str, Equipment]
    """Radios by the link's name, with their inputs typical; empty without one."""
    runs: Mapping[Run, OfChoice]
    """What was measured under typical settings of the radio."""
    timed: Mapping[tuple[Run, str], OfChoice | None] = field(default_factory=dict)
    """What was measured with other settings of the radio, by their name, that move packets of that run, because they
    put the radio to sleep at other times. None if that was not run.
    """
    delays_known: bool = False
    """Whether such settings are run. Else they are applied to packets that they would move."""
    apart: Sequence[Apart] = ()
    levers: Sequence[Lever] = ()
    worse: Sequence[str] = ()
    """Changes that were tried on a choice, and deliver worse than it."""
    maps: Sequence[WinnerMap] = ()
    tails: Mapping[str, ExactBounds] = field(default_factory=dict)
    """Probabilities of a late acknowledgement, by the choice's name."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Implementations of client and server, by the choice's name."""
    link_words: str = ""
    clock: str = "virtual"
    kernel: str | None = None
    warnings: Sequence[str] = ()

    @property
    def criterion(self) -> Criterion:
        """What ranks: energy, if the radio is known."""
        return "energy" if self.asked.link in self.equipments else "data"

    @property
    def typical(self) -> Place:
        """Where everything is as the profile and the radio's file have it."""
        return next(self.network.places())

    def of(self, candidate: Candidate, place: Place) -> OfChoice | None:
        """What is known of a choice there; None if nothing was run."""
        run = candidate.name, place.link, self.network.run_at(candidate, place.nat)
        return self.timed.get((run, place.radio), self.runs.get(run))

    def values(self, candidate: Candidate, place: Place) -> dict[int, Parts]:
        """What ranks, by replicate; empty if it is not known."""
        found = self.of(candidate, place)
        if found is None:
            return {}
        if self.criterion == "data":
            return {replicate: exactly(value) for replicate, value in found.data_bytes.items()}
        return found.energies.get(place.radio, {})

    def not_ranked(self, candidate: Candidate, place: Place) -> str | None:
        """Why a choice is not ranked there; None if it is."""
        found = self.of(candidate, place)
        if found is None or not found.messages:
            return (
                "It was not run."
                if found is None or found.failure is None
                else f"No trial of it is done: {found.failure}."
            )
        if not self.values(candidate, place):
            return f"Its energy is not known: {found.no_energy}." if found.no_energy else "No packet of it is known."
        return not_comparable(found, self._known(place))

    def near_deadline(self, candidate: Candidate, place: Place) -> str | None:
        """Why it is open whether a choice keeps the deadline there; None if it is not. Where none keeps it, what one is
        behind another decides nothing.
        """
        found, known = self.of(candidate, place), self._known(place)
        return None if found is None or misses_deadline(known) else near_deadline(found, known)

    def needs_trials(self, place: Place) -> bool:
        """Whether something takes less than all that are ranked there, and only its few trials leave open whether it
        keeps the deadline.
        """
        known = self._known(place)
        means = {each.name: mean_of(self.values(each, place)) for each in self.candidates}
        able = [each.name for each in self.candidates if self.not_ranked(each, place) is None]
        lowest = min((mean for name in able if (mean := means[name]) is not None), default=0.0)
        for each in self.candidates:
            found, mean = self.of(each, place), means[each.name]
            if found is None or mean is None or mean >= lowest or loses(found, known) is not None:
                continue
            if needs_trials(found, known):
                return True
        return False

    def nearest(self, place: Place) -> str | None:
        """The choice that comes nearest to the deadline there, by its name. None if one keeps it, and without one."""
        known = self._known(place)
        if not misses_deadline(known):
            return None
        found = [(each, self.of(each, place)) for each in self.candidates]
        able = [
            (
                share_of(of.late),
                (of.late_near or (0, 1.0))[1],
                _or_infinite(of.p50_s),
                _or_infinite(mean_of(self.values(each, place))),
                each.name,
            )
            for each, of in found
            if of is not None and of.messages and of.late is not None
        ]
        return min(able)[-1]

    def is_settled(self, place: Place) -> bool:
        """Whether more trials would change nothing that matters there."""
        if (ranking := self.ranking(place)) is None:
            return surely_misses_deadline(self._known(place))
        return is_settled(ranking) and not self.needs_trials(place)

    def _known(self, place: Place) -> list[OfChoice]:
        return [each for candidate in self.candidates if (each := self.of(candidate, place)) is not None]

    def ranking(self, place: Place) -> Ranking | None:
        """Of all that are ranked there, over the replicates that all of them have; None without any."""
        able = {each.name: self.values(each, place) for each in self.candidates if self.not_ranked(each, place) is None}
        if not able:
            return None
        common = sorted(set.intersection(*(set(each) for each in able.values())))
        return ranked({name: [of[at] for at in common] for name, of in able.items()}, SEED) if common else None

    def order(self, place: Place) -> Sequence[str]:
        """Names of the choices there, the lowest first. If none is ranked, such as with a deadline that all miss, of
        all that were measured: elsewhere they may be ranked.
        """
        if (ranking := self.ranking(place)) is not None:
            return ranking.order
        means = {each.name: mean_of(self.values(each, place)) for each in self.candidates}
        return sorted(
            (name for name, mean in means.items() if mean is not None), key=lambda name: _or_infinite(means[name])
        )

    def delivering(self) -> set[Run]:
        """What was run and loses no more messages than others of the same link and NAT, whenever they come."""
        found = set[Run]()
        for link, nat in product(self.network.links, self.network.nats or (None,)):
            place = replace(self.typical, link=link, nat=nat)
            known = self._known(place)
            for each in self.candidates:
                of = self.of(each, place)
                if of is not None and of.messages and loses(of, known) is None:
                    found.add((each.name, link, self.network.run_at(each, nat)))
        return found

    def near(self) -> set[Run]:
        """What was run and is not far behind the lowest of the same link and NAT, with the radio's typical settings:
        how other settings of the radio change it may change the order. What is not ranked, because it loses messages
        above all, sets no lowest.
        """
        found, typical = set[Run](), self.typical
        for link, nat in product(self.network.links, self.network.nats or (None,)):
            place = replace(typical, link=link, nat=nat)
            costs = {
                (each.name, link, self.network.run_at(each, nat)): mean_of(self.values(each, place))
                for each in self.candidates
                if self.not_ranked(each, place) is None
            }
            known = [cost for cost in costs.values() if cost is not None]
            found |= {run for run, cost in costs.items() if cost is not None and cost <= FAR * min(known)}
        return found


def _or_infinite(value: Estimate | float | None) -> float:
    """A number for an order, in which what is not known comes last."""
    number = value.point if isinstance(value, Estimate) else value
    return float("inf") if number is None else number


def mean_of(trials: Mapping[int, Parts]) -> float | None:
    """What a message costs with typical constants, over trials; None without any."""
    return sum(map(typical_of, trials.values())) / len(trials) if trials else None


def typical_of(trial: Parts) -> float:
    """What a message costs in one trial, with typical constants of the radio."""
    return sum(part["typical"] for part in trial.values())
