"""What is run next of several scenarios: patterns while they tell most, then samples of what is left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from wirelab.enumeration.loss import lost_of
from wirelab.enumeration.rest import Rest
from wirelab.enumeration.search import Search
from wirelab.enumeration.tree import Pattern, Run
from wirelab.errors import RunError
from wirelab.runner.patterns import KEPT_LOSSES, Subject, Task, pattern_name
from wirelab.schema.exact import WAYS

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


@dataclass
class Singles:
    """The loss of each packet alone that was not enumerated: of those after the end, which cost bytes and no delay, and
    of those for which there was no time.
    """

    roots: Sequence[tuple[Subject, Run]]
    """Runs without losses, with all of their packets."""
    known: Collection[tuple[str, str]]
    """Runs that there are, by their trial and name."""
    _left: Iterator[Task] | None = field(default=None, init=False)

    def next(self) -> Task | None:
        """The next packet."""
        self._left = self._left or self._tasks()
        return next(self._left, None)

    def take(self, task: Task, run: Run) -> None:
        """It is kept with all others."""
        if pattern_name(run.pattern) != task.name:
            raise RunError(f"{task.subject.scenario.name}: packets {run.pattern} were lost instead of {task.name}")

    def _tasks(self) -> Iterator[Task]:
        for subject, root in self.roots:
            for at, draw in enumerate(root.draws):
                if (subject.trial.trial, name := pattern_name((at,))) not in self.known:
                    draws = (*root.draws[:at], replace(draw, lost=True))
                    yield Task(subject, name, {way: lost_of(draws, way) for way in WAYS}, kept=True)


@dataclass(frozen=True)
class Sampled:
    """What is left open of a subject under one loss model, and how wide an interval may be."""

    subject: Subject
    name: str
    rest: Rest
    within: float
    beyond_s: Sequence[float]

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
    _urgency: list[float] = field(init=False)
    _names: list[str] = field(init=False)
    _next: list[int] = field(init=False)
    _early: list[dict[int, Run]] = field(init=False)
    _taken: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._urgency = [each.urgency() for each in self.rests]
        self._names = [f"{each.name} {each.rest.branches}" for each in self.rests]
        self._next = [0 for _ in self.rests]
        self._early = [{} for _ in self.rests]

    def next(self) -> Task | None:
        """The next sample of the widest that has one left."""
        for at in sorted(range(len(self.rests)), key=lambda at: -self._urgency[at]):
            if self._urgency[at] <= 1:
                return None
            if (number := self._next[at]) < self.most:
                self._next[at] += 1
                sampled = self.rests[at]
                task = Task(sampled.subject, f"{self._names[at]} {number}", sampled.rest.lost(number))
                self._taken[sampled.subject.trial.trial, task.name] = at, number
                return task
        return None

    def take(self, task: Task, run: Run) -> None:
        """Add it, in the order of the numbers: what is known then does not depend on how many run at a time."""
        at, number = self._taken.pop((task.subject.trial.trial, task.name))
        early, runs = self._early[at], self.rests[at].rest.runs
        early[number] = run
        while len(runs) in early:
            runs.append(early.pop(len(runs)))
        self._urgency[at] = self.rests[at].urgency()
        self.heard(max(self._urgency))
