"""Runs an exchange again and again under the virtual clock, each time with other packets lost, in a guest of its own.

What a run was is kept as a line of a journal: the same command continues.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from wirelab.clock.host import Host, RefusedError
from wirelab.enumeration.link import with_lost
from wirelab.enumeration.tree import Pattern, Run
from wirelab.errors import RunError
from wirelab.runner.endpoints import Endpoints
from wirelab.schema import TrialResult, TrialStatus
from wirelab.schema.campaign import TRIALS
from wirelab.schema.exact import PATTERNS, Direction, Draw
from wirelab.schema.plan import Scenario, Trial

KEPT_LOSSES = 1
"""Records of runs with so many losses at most stay: what the loss of each packet costs is shown packet by packet."""
NAME_DIGITS = 12
_POLL_S = 1.0

Read = Callable[[Path, str], tuple[tuple[Draw, ...], float | None]]
"""Reads what the link of a trial decided about packets, and when the exchange ended, in seconds."""


@dataclass(frozen=True)
class Subject:
    """A scenario of one exchange with its trial, whose seed all of its runs have."""

    scenario: Scenario
    trial: Trial


@dataclass(frozen=True)
class Task:
    """A run to be made: what the first packets of each direction are to meet. `name` tells it from the subject's other
    runs. `kept` says whether its records stay.
    """

    subject: Subject
    name: str
    lost: Mapping[Direction, Sequence[bool]]
    kept: bool = False


class Source(Protocol):
    """Says what is run next, and takes the runs."""

    def next(self) -> Task | None:
        """The next run; None if there is none, or none before others are over."""

    def take(self, task: Task, run: Run) -> None:
        """It was made. Raises `RunError` if it cannot be."""


@dataclass(frozen=True)
class Patterns:
    """Makes the runs that a source asks for, several at a time, and keeps each in a journal."""

    host: Host
    endpoints: Endpoints
    folder: Path
    jobs: int
    read: Read
    known: dict[tuple[str, str], Run] = field(default_factory=dict)
    """Runs of an earlier call and of this one, by their trial and name, with all of their packets."""

    def run(self, source: Source, over: Callable[[], bool]) -> None:
        """Until the source asks for nothing more, or `over` says that the time is up.

        Raises `RunError` for a run that failed, or that is not repeatable.
        """
        waiting: dict[str, Task] = {}
        while True:
            while len(waiting) < self.jobs and not over() and (task := source.next()) is not None:
                if (run := self.known.get((task.subject.trial.trial, task.name))) is not None:
                    source.take(task, run)
                else:
                    waiting[self._start(task)] = task
            if not waiting:
                return
            if (result := self.host.wait(_POLL_S)) is None:
                continue
            task = waiting.pop(result.trial)
            if isinstance(result, RefusedError):
                raise RunError(f"{task.subject.scenario.name}: {result.message}")
            source.take(task, self._made(task, result))

    def _start(self, task: Task) -> str:
        name = trial_name(task.subject.trial, task.name)
        folder = self.folder / TRIALS / name
        shutil.rmtree(folder, ignore_errors=True)
        trial = task.subject.trial.model_copy(update={"trial": name})
        own = task.subject.scenario
        scenario = own.model_copy(update={"link": with_lost(own.link, task.lost)})
        self.host.start(self.endpoints.request(scenario, trial, 0, folder))
        return name

    def _made(self, task: Task, result: TrialResult) -> Run:
        if result.status is not TrialStatus.DONE:
            raise RunError(f"{task.subject.scenario.name}: {result.error or result.status}")
        draws, end_s = self.read(self.folder, result.trial)
        run = Run(tuple(at for at, draw in enumerate(draws) if draw.lost), draws, end_s)
        with (self.folder / PATTERNS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(_line(task, run), separators=(",", ":")) + "\n")
        if not task.kept:
            shutil.rmtree(self.folder / TRIALS / result.trial)
        self.known[task.subject.trial.trial, task.name] = run
        return run


def trial_name(trial: Trial, name: str) -> str:
    """As long for every run: the length of a path moves what a program keeps in its memory."""
    return f"{trial.trial}-{hashlib.sha256(name.encode()).hexdigest()[:NAME_DIGITS]}"


def pattern_name(pattern: Pattern) -> str:
    """Of the run that loses these packets."""
    return ",".join(map(str, pattern)) or "none"


def _line(task: Task, run: Run) -> dict[str, object]:
    draws = [[draw.direction, draw.lost, draw.at_s, draw.size, draw.head] for draw in run.draws]
    return {"trial": task.subject.trial.trial, "name": task.name, "end_s": run.end_s, "draws": draws}


def known_in(folder: Path) -> dict[tuple[str, str], Run]:
    """Runs that the journal of a folder has, without its first line, which says what made them; a torn last line is
    ignored.
    """
    found: dict[tuple[str, str], Run] = {}
    path = folder / PATTERNS
    for line in path.read_bytes().split(b"\n")[1:-1] if path.exists() else ():
        row = json.loads(line)
        draws = tuple(Draw(*each) for each in row["draws"])
        lost = tuple(at for at, draw in enumerate(draws) if draw.lost)
        found[row["trial"], row["name"]] = Run(lost, draws, row["end_s"])
    return found
