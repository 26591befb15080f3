"""What is run next of several scenarios: patterns while they tell most, then samples of what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wirelab.errors import RunError
from wirelab.exact.loss import WAYS, lost_of
from wirelab.exact.rest import Rest
from wirelab.exact.search import Search
from wirelab.exact.tree import Pattern, Run
from wirelab.runner.patterns import KEPT_LOSSES, Subject, Task, pattern_name

Heard = Callable[[float], None]
"""Gets how many times as wide as they may be the widest bounds are."""


@dataclass
class Enumeration:
    """Searches of several subjects at once: the one that is furthest from its bounds is next."""

    searches: Sequence[tuple[Subject, Search]]
    heard: Heard
    _taken: dict[tuple[str, str], tuple[Search, Pattern]] = field(default_factory=dict, init=False)

    def next(self) -> Task | None:
        """The heaviest pattern of that subject."""
        for subject, search in sorted(self.searches, key=lambda each: -each[1].urgency):
            if (pattern := search.next()) is not None:
                draws = search.tree.draws_of(pattern)
                lost = {way: lost_of(draws, way) for way in WAYS}
                task = Task(subject, pattern_name(pattern), lost, kept=len(pattern) <= KEPT_LOSSES)
                self._taken[subject.trial.trial, task.name] = search, pattern
                return task
        return None

    def take(self, task: Task, run: Run) -> None:
        """Add it to its tree."""
        search, pattern = self._taken.pop((task.subject.trial.trial, task.name))
        if run.pattern != pattern:
            raise RunError(f"{task.subject.scenario.name}: packets {run.pattern} were lost instead of {pattern}")
        search.add(run)
        self.heard(max(each.urgency for _, each in self.searches))


@dataclass(frozen=True)
class Sampled:
    """What is left open of a subject under one loss model, and how wide an interval may be."""

    subject: Subject
    name: str
    rest: Rest
    within: float
    beyond_s: Sequence[float]

    @property
    def urgency(self) -> float:
        """How many times as wide as they may be the widest interval is."""
        return max((part.high - part.low) / self.within for part in map(self.rest.beyond, self.beyond_s))


@dataclass
class Samples:
    """Samples of several rests at once, the widest first."""

    rests: Sequence[Sampled]
    heard: Heard
    most: int
    """Samples of each at most."""
    _next: dict[str, int] = field(default_factory=dict, init=False)
    _taken: dict[tuple[str, str], tuple[Sampled, int]] = field(default_factory=dict, init=False)
    _early: dict[str, dict[int, Run]] = field(default_factory=dict, init=False)

    def next(self) -> Task | None:
        """The next sample of the widest that has one left."""
        for sampled in sorted(self.rests, key=lambda each: -each.urgency):
            if sampled.urgency <= 1:
                return None
            key = f"{sampled.subject.trial.trial} {sampled.name}"
            number = self._next.get(key, 0)
            if number < self.most:
                self._next[key] = number + 1
                task = Task(sampled.subject, f"{sampled.name} {number}", sampled.rest.lost(number))
                self._taken[sampled.subject.trial.trial, task.name] = sampled, number
                return task
        return None

    def take(self, task: Task, run: Run) -> None:
        """Add it, in the order of the numbers."""
        sampled, number = self._taken.pop((task.subject.trial.trial, task.name))
        early = self._early.setdefault(f"{sampled.subject.trial.trial} {sampled.name}", {})
        early[number] = run
        while len(sampled.rest.runs) in early:
            sampled.rest.runs.append(early.pop(len(sampled.rest.runs)))
        self.heard(max(each.urgency for each in self.rests))
