"""Runs an exchange again and again under the virtual clock, each time with other packets lost, in a guest of its own.

What a run was is read from its packet log and its exchange, and kept as a line of a journal: the same command continues.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wirelab.clock.host import Host, RefusedError
from wirelab.errors import RunError
from wirelab.exact.loss import Direction, Draw
from wirelab.exact.search import Search
from wirelab.exact.tree import Pattern, Run
from wirelab.metrics.dataset import exchanges_of
from wirelab.metrics.packets import records_of
from wirelab.runner.endpoints import Endpoints
from wirelab.schema import LinkSpec, LossPattern, TrialResult, TrialStatus
from wirelab.schema.campaign import PACKET_LOG, TRIALS
from wirelab.schema.plan import Scenario, Trial

PATTERNS = "patterns.jsonl"
WAYS: tuple[Direction, ...] = ("uplink", "downlink")
KEPT_LOSSES = 1
"""Records of runs with so many losses at most stay: what the loss of each packet costs is shown packet by packet."""
NAME_LETTERS = 12
_POLL_S = 1.0
_DELIVERED, _LOST, _HELD = 0, 1, 3
"""Outcomes of packets that got to the loss stage (`docs/reference/files.md`)."""
_OUTCOME, _ORIGINATED, _COPY = 0x0F, 0x10, 0x80


@dataclass(frozen=True)
class Subject:
    """A scenario of one exchange with its trial, and the search that says which packets are lost next."""

    scenario: Scenario
    trial: Trial
    search: Search


@dataclass(frozen=True)
class Patterns:
    """Runs what the searches ask for, several at a time. Each run has the seed of its subject's trial, whatever it
    loses.
    """

    host: Host
    endpoints: Endpoints
    folder: Path
    jobs: int
    known: Mapping[tuple[str, Pattern], Run] = field(default_factory=dict)
    """Runs of an earlier call, by the key of their scenario."""

    def run(self, subjects: Sequence[Subject], until: Callable[[], bool], heard: Callable[[int], None]) -> None:
        """Until every search is bounded, or `until` says that the time is over. `heard` gets the number of runs.

        Raises `RunError` for a run that failed, or that is not repeatable.
        """
        waiting: dict[str, tuple[Subject, Pattern]] = {}
        done = 0
        while True:
            over = until()
            for subject in () if over else subjects:
                while len(waiting) < self.jobs and (pattern := self._next(subject)) is not None:
                    waiting[self._start(subject, pattern)] = subject, pattern
            if not waiting:
                return
            if (result := self.host.wait(_POLL_S)) is None:
                continue
            subject, pattern = waiting.pop(result.trial)
            if isinstance(result, RefusedError):
                raise RunError(f"{subject.scenario.name}: {result.message}")
            self._take(subject, pattern, result)
            heard(done := done + 1)

    def _next(self, subject: Subject) -> Pattern | None:
        """The next pattern that is not known; those that are known are added."""
        while patterns := subject.search.next(1):
            if (run := self.known.get((subject.scenario.key, patterns[0]))) is None:
                return patterns[0]
            subject.search.add(run)
        return None

    def _start(self, subject: Subject, pattern: Pattern) -> str:
        name = _name(subject.trial, pattern)
        folder = self.folder / TRIALS / name
        shutil.rmtree(folder, ignore_errors=True)
        lost = subject.search.tree.draws_of(pattern)
        trial = subject.trial.model_copy(update={"trial": name})
        scenario = subject.scenario.model_copy(update={"link": with_lost(subject.scenario.link, lost)})
        self.host.start(self.endpoints.request(scenario, trial, 0, folder))
        return name

    def _take(self, subject: Subject, pattern: Pattern, result: TrialResult) -> None:
        if result.status is not TrialStatus.DONE:
            raise RunError(f"{subject.scenario.name}: {result.error or result.status}")
        [exchange] = exchanges_of(self.folder, result.trial)
        folder = self.folder / TRIALS / result.trial
        start_ns, completed = exchange["start_ns"], exchange["outcome"] == "completed"
        draws = tuple(draws_in(folder / PACKET_LOG, start_ns))
        lost = tuple(at for at, draw in enumerate(draws) if draw.lost)
        run = Run(pattern, draws, (exchange["end_ns"] - start_ns) / 1e9 if completed else None)
        if lost != pattern:
            raise RunError(f"{subject.scenario.name}: packets {lost} were lost instead of {pattern}")
        subject.search.add(run)
        with (self.folder / PATTERNS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(_line(subject.scenario.key, run), separators=(",", ":")) + "\n")
        if len(pattern) > KEPT_LOSSES:
            shutil.rmtree(folder)


def with_lost(link: LinkSpec, draws: Sequence[Draw]) -> LinkSpec:
    """The link on which these packets are lost or pass, and all later ones pass. It has a stage for it each way."""
    digits = {way: "".join("01"[draw.lost] for draw in draws if draw.direction == way) or "0" for way in WAYS}
    stages = {
        way: tuple(
            stage.model_copy(update={"pattern": digits[way], "repeat": False})
            if isinstance(stage, LossPattern)
            else stage
            for stage in getattr(link, way)
        )
        for way in WAYS
    }
    return link.model_copy(update=stages)


def draws_in(log: Path, start_ns: int) -> Iterator[Draw]:
    """What the loss stage decided, in the order in which packets arrived at the link. Packets that a queue before it
    dropped had no draw.
    """
    _, records = records_of(log)
    for record in records:
        flags = record[10]
        if flags & (_ORIGINATED | _COPY) or (outcome := flags & _OUTCOME) not in {_DELIVERED, _LOST, _HELD}:
            continue
        port, arrival_ns = (int.from_bytes(record[at:end], "little") for at, end in ((8, 10), (16, 24)))
        yield Draw(WAYS[port % 2], outcome == _LOST, (arrival_ns - start_ns) / 1e9)


def _name(trial: Trial, pattern: Pattern) -> str:
    """As long for every pattern: the length of a path moves what a program keeps in its memory."""
    digest = hashlib.sha256(repr(pattern).encode()).hexdigest()
    return f"{trial.trial}-{digest[:NAME_LETTERS]}"


def _line(key: str, run: Run) -> dict[str, Any]:
    return {
        "scenario": key, "pattern": run.pattern, "end_s": run.end_s,
        "draws": [[draw.direction, draw.lost, draw.at_s] for draw in run.draws],
    }  # fmt: skip


def known_in(folder: Path) -> dict[tuple[str, Pattern], Run]:
    """Runs that the journal of a folder has; a torn last line is ignored."""
    found: dict[tuple[str, Pattern], Run] = {}
    path = folder / PATTERNS
    for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else ():
        row = json.loads(line)
        draws = tuple(Draw(*each) for each in row["draws"])
        pattern = tuple(row["pattern"])
        found[row["scenario"], pattern] = Run(pattern, draws, row["end_s"])
    return found
