"""Everything that was measured for an answer, and what of it can be ranked. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from wirelab.answer.choose.candidates import Candidate
from wirelab.answer.choose.measured import NEAR, OfChoice
from wirelab.answer.choose.network import Nat, Network, Place
from wirelab.answer.choose.question import Asked
from wirelab.answer.choose.ranking import Parts, Ranking, exactly, ranked
from wirelab.metrics.energy_settings import Equipment
from wirelab.schema.choose import Apart, Criterion, Lever, WinnerMap
from wirelab.schema.exact import ExactBounds
from wirelab.stats.estimate.model import Estimate
from wirelab.units import format_share

MOST_LOST = 0.01
"""A choice that loses so much more of its messages than another is not ranked."""
MOST_LATE = 0.05
"""The same of what comes after the deadline."""
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
    apart: Sequence[Apart] = ()
    levers: Sequence[Lever] = ()
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
        return self.runs.get((candidate.name, place.link, self.network.run_at(candidate, place.nat)))

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
        known = self._known(place)
        if (why := near_deadline(found, known)) is None or loses(found, known) is not None:
            return falls_behind(found, known)
        # If none is surely in time, those that may be are compared.
        return why if any(_is_in_time(each, known) for each in known) else None

    def near_deadline(self, candidate: Candidate, place: Place) -> str | None:
        """Why it is open whether a choice keeps the deadline there; None if it is not."""
        found = self.of(candidate, place)
        return None if found is None else near_deadline(found, self._known(place))

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
            if _changed_by_time(found, known) is None and _left_open_by_trials(found, known) is not None:
                return True
        return False

    def _known(self, place: Place) -> list[OfChoice]:
        return [each for candidate in self.candidates if (each := self.of(candidate, place)) is not None]

    def ranking(self, place: Place) -> Ranking | None:
        """Of all that are ranked there, over the replicates that all of them have; None without any."""
        able = {each.name: self.values(each, place) for each in self.candidates if self.not_ranked(each, place) is None}
        if not able:
            return None
        common = sorted(set.intersection(*(set(each) for each in able.values())))
        return ranked({name: [of[at] for at in common] for name, of in able.items()}, SEED) if common else None

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


def falls_behind(found: OfChoice, others: Collection[OfChoice]) -> str | None:
    """Why something is not compared with others: it loses more messages, or acknowledges more of them too late. None if
    it does neither.
    """
    if (why := loses(found, others)) is not None:
        return why
    if share_of(found.late) > _least_late(others) + MOST_LATE:
        return f"{format_share(share_of(found.late))} of its messages are not acknowledged within the deadline."
    return None


def loses(found: OfChoice, others: Collection[OfChoice]) -> str | None:
    """Why something loses more messages than others; None if it does not."""
    if found.lost == found.messages:
        return f"It loses all of its {found.messages:,} messages."
    least = min((share_of(each.lost_share) for each in others if each.messages), default=0.0)
    if share_of(found.lost_share) > least + MOST_LOST:
        return f"It loses {found.lost:,} of {found.messages:,} messages."
    return None


def near_deadline(found: OfChoice, others: Collection[OfChoice]) -> str | None:
    """Why it is open whether something keeps the deadline as well as others: a little more or less time would decide
    otherwise, or its interval has both. None if it is not.
    """
    why = _changed_by_time(found, others) or _left_open_by_trials(found, others)
    if why is None or found.late is None or found.late.point is None:
        return None
    return f"Inconclusive, close to the deadline: {format_share(found.late.point)} of its messages are late{why}."


def _changed_by_time(found: OfChoice, others: Collection[OfChoice]) -> str | None:
    if found.late is None or found.late_near is None:
        return None
    late, (shorter, longer), by = share_of(found.late), found.late_near, format_share(NEAR)
    most = _least_late(others) + MOST_LATE
    most_longer = (
        min((each.late_near[1] for each in others if each.messages and each.late_near), default=0.0) + MOST_LATE
    )
    if late > most_longer >= longer:
        return f", but {format_share(longer)} with {by} more time"
    if shorter > most >= late:
        return f", but {format_share(shorter)} with {by} less time"
    return f", and with {by} more time another is not late" if longer > most_longer and late <= most else None


def _left_open_by_trials(found: OfChoice, others: Collection[OfChoice]) -> str | None:
    late, least = found.late, _least_late(others)
    if late is None or late.low is None or late.high is None or late.point == least:
        return None
    if not late.low <= least + MOST_LATE <= late.high:
        return None
    interval = f"{format_share(late.low)} to {format_share(late.high)}"
    return f" (95 % interval: {interval}), and {format_share(least + MOST_LATE)} may be"


def _is_in_time(found: OfChoice, others: Collection[OfChoice]) -> bool:
    known = found.late is not None
    return known and falls_behind(found, others) is None and near_deadline(found, others) is None


def _least_late(others: Collection[OfChoice]) -> float:
    """The smallest share that comes after the deadline. Of what nothing answers nobody knows when it came."""
    return min((share_of(each.late) for each in others if each.messages and each.late is not None), default=0.0)


def mean_of(trials: Mapping[int, Parts]) -> float | None:
    """What a message costs with typical constants, over trials; None without any."""
    return sum(map(typical_of, trials.values())) / len(trials) if trials else None


def typical_of(trial: Parts) -> float:
    """What a message costs in one trial, with typical constants of the radio."""
    return sum(part["typical"] for part in trial.values())


def share_of(estimate: Estimate | None) -> float:
    """Its point; 0 if it is not known."""
    return 0.0 if estimate is None or estimate.point is None else estimate.point
