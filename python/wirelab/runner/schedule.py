"""Which trial runs next, in which lane, and whether a block with a late link is repeated. No clock, process or file.

With a fixed number of blocks a free lane takes the next trial of any block, so blocks overlap in time. With a stopping
rule, blocks beyond the minimum start in steps of as many as can run in parallel. The rule is asked before each step,
for every scenario that it has not stopped.

A trial that runs alone starts when nothing else runs, and no other trial starts during it. Such trials of all blocks
that may start come first, so that parallel trials are seldom interrupted for one.

A late block halves the number of parallel trials (the jobs). Each accepted block after it adds one, so that a short
disturbance does not slow the rest of a long campaign. A block that stalled is repeated even with one trial at a time: a
stall passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from wirelab.runner.timing_error import LatePackets
from wirelab.schema.plan import Trial

MAX_BLOCK_ATTEMPTS = 3


class Assignment(NamedTuple):
    """A trial that may start now; `jobs` is how many may run in parallel."""

    trial: Trial
    block: int
    lane: int
    jobs: int


@dataclass(frozen=True)
class Stopping:
    """When to end before the last block.

    Never before `minimum` blocks. `enough` is the stopping rule, `None` for a fixed number of blocks; once `time_is_up`
    no further block is opened.

    With `step_jobs` both are asked after blocks that do not depend on how many trials run in parallel: as with so many.

    Once `starts_end` no further trial is started, also of open blocks. What runs then ends as it would.
    """

    minimum: int
    enough: Callable[[str], bool] | None = None
    time_is_up: Callable[[], bool] = lambda: False
    step_jobs: int | None = None
    starts_end: Callable[[], bool] = lambda: False


class Cut(NamedTuple):
    """The budget ended the run early: how many blocks had started, and how many scenarios lack trials."""

    blocks: int
    scenarios: int


class BlockOutcome(StrEnum):
    """A finished block is accepted, repeated, or accepted with a flag after its last attempt."""

    ACCEPTED = "accepted"
    DISCARDED = "discarded"
    FLAGGED = "flagged"


class BlockEnd(NamedTuple):
    """A finished block, with those of its trials that used the link."""

    block: int
    outcome: BlockOutcome
    late: LatePackets
    trials: tuple[Trial, ...]
    attempt: int = 1


@dataclass
class _Block:
    pending: list[Trial]
    running: set[str] = field(default_factory=set)
    ran: dict[str, tuple[Trial, LatePackets]] = field(default_factory=dict)
    attempt: int = 1
    jobs: int = 1
    opened: bool = False
    over: bool = False


class Schedule:
    """Hands out trials and receives their results.

    `finished` are trials that need no run; a scenario that has one in a block was not stopped before it. `alone` are
    scenarios whose trials run alone.
    """

    def __init__(
        self,
        blocks: Sequence[Sequence[Trial]],
        jobs: int,
        stopping: Stopping,
        finished: Collection[str] = (),
        alone: Collection[str] = (),
    ) -> None:
        self.jobs = jobs
        self._most_jobs = jobs
        self.stopped: set[str] = set()
        self.cut: Cut | None = None
        self._stopping = stopping
        self._alone = alone
        self._is_reserved = False
        self._step_end = max(stopping.minimum, 1)
        self._free = set(range(jobs))
        self._lane_of: dict[str, int] = {}
        self._blocks = [_Block([trial for trial in block if trial.trial not in finished]) for block in blocks]
        for block in self._blocks:
            block.over = not block.pending

    def next(self) -> Assignment | None:
        """A trial to start now; none while every lane is taken, the open blocks are handed out, or all is over."""
        if self._stopping.starts_end():
            self._end_starts()
        if len(self._lane_of) >= self.jobs or (self._is_reserved and not self.idle):
            return None
        if self.idle and (assignment := self._next_alone()) is not None:
            return assignment
        for index, block in enumerate(self._blocks):
            if not block.opened and not self._open(index):
                return None
            if (trial := self._first(block, alone=False)) is not None:
                return self._assign(index, trial)
            if block.pending:
                return self._assign(index, block.pending[0]) if self.idle else None
        return None

    def _next_alone(self) -> Assignment | None:
        """The first trial that runs alone, of the blocks up to the minimum."""
        for index, block in enumerate(self._blocks[: max(self._stopping.minimum, 1)]):
            if (trial := self._first(block, alone=True)) is not None:
                block.opened = True
                return self._assign(index, trial)
        return None

    def _first(self, block: _Block, *, alone: bool) -> Trial | None:
        return next((trial for trial in block.pending if (trial.scenario in self._alone) is alone), None)

    def over(self, assignment: Assignment, late: LatePackets | None) -> BlockEnd | None:
        """Record the end of a trial (`None`: it never used the link). Gives the block's end after its last trial."""
        block = self._release(assignment)
        if late is not None:
            block.ran[assignment.trial.trial] = (assignment.trial, late)
        return self._settle(assignment.block)

    def repeat(self, assignment: Assignment) -> None:
        """Record that a trial was invalid and must be repeated."""
        self._release(assignment).pending.insert(0, assignment.trial)

    def take_back(self, assignments: Iterable[Assignment]) -> list[Trial]:
        """Have trials that run, and all others of their blocks, run again. Gives those that had ended."""
        ended: list[Trial] = []
        assignments = list(assignments)
        for assignment in assignments:
            self.repeat(assignment)
        for index in sorted({assignment.block for assignment in assignments}):
            block = self._blocks[index]
            trials = [trial for trial, _ in block.ran.values()]
            block.pending, block.ran = [*trials, *block.pending], {}
            ended += trials
        return ended

    @property
    def idle(self) -> bool:
        """Nothing runs."""
        return not self._lane_of

    @property
    def outstanding(self) -> set[str]:
        """Trials not yet finished, as far as is known: a stopping rule may skip some."""
        return {*self._lane_of, *(trial.trial for block in self._blocks for trial in block.pending)}

    def _open(self, index: int) -> bool:
        """Open a block if it may start; beyond the minimum only if the budget and the rule allow."""
        block = self._blocks[index]
        if index >= max(self._stopping.minimum, 1) and block.pending:
            if self._stopping.step_jobs is not None and not all(block.over for block in self._blocks[:index]):
                return False
            if self._stopping.time_is_up():
                return self._cut_short(index)
        if (
            self._stopping.enough is not None
            and index >= self._step_end
            and not self._ask(index, self._stopping.enough)
        ):
            return False
        block.opened = True
        return True

    def _ask(self, index: int, enough: Callable[[str], bool]) -> bool:
        if not all(block.over for block in self._blocks[:index]):
            return False
        asked = {trial.scenario for trial in self._blocks[index].pending}
        self.stopped |= {scenario for scenario in sorted(asked) if enough(scenario)}
        for block in self._blocks[index:]:
            block.pending = [trial for trial in block.pending if trial.scenario not in self.stopped]
            block.over = not block.pending and not block.running
        jobs = self.jobs if self._stopping.step_jobs is None else self._stopping.step_jobs
        self._step_end = index + max(1, jobs // max(len(asked - self.stopped), 1))
        return True

    def _cut_short(self, index: int) -> bool:
        """Open no further block. The rule is asked once more, to count the scenarios that lack trials."""
        if self._stopping.enough is not None and not self._ask(index, self._stopping.enough):
            return False
        if lacking := {trial.scenario for block in self._blocks[index:] for trial in block.pending}:
            self.cut = Cut(index, len(lacking))
        for block in self._blocks[index:]:
            block.pending, block.opened, block.over = [], True, True
        return False

    def _end_starts(self) -> None:
        """Start no further trial, and count the scenarios that lack some."""
        lacking = {trial.scenario for block in self._blocks for trial in block.pending}
        if lacking and self.cut is None:
            self.cut = Cut(sum(block.opened for block in self._blocks), len(lacking))
        for block in self._blocks:
            block.pending, block.opened, block.over = [], True, not block.running

    def _assign(self, index: int, trial: Trial) -> Assignment:
        block = self._blocks[index]
        block.pending.remove(trial)
        self._is_reserved = trial.scenario in self._alone
        jobs = 1 if self._is_reserved else self.jobs
        lane = min(self._free)
        self._free.remove(lane)
        self._lane_of[trial.trial] = lane
        block.running.add(trial.trial)
        block.jobs = max(block.jobs, jobs)
        return Assignment(trial, index, lane, jobs)

    def _release(self, assignment: Assignment) -> _Block:
        name = assignment.trial.trial
        self._free.add(self._lane_of.pop(name))
        block = self._blocks[assignment.block]
        block.running.remove(name)
        return block

    def _settle(self, index: int) -> BlockEnd | None:
        block = self._blocks[index]
        if block.pending or block.running:
            return None
        trials = tuple(trial for trial, _ in block.ran.values())
        total = sum((late for _, late in block.ran.values()), LatePackets(0, 0))
        if total.tolerable:
            block.over = True
            if block.jobs <= self.jobs:
                self.jobs = min(self.jobs + 1, self._most_jobs)
            return BlockEnd(index, BlockOutcome.ACCEPTED, total, trials, block.attempt)
        self.jobs = min(self.jobs, max(1, block.jobs // 2))
        attempt = block.attempt
        # Late with one trial at a time: the machine is busy with something else, and a repeat would be late too.
        if attempt >= MAX_BLOCK_ATTEMPTS or (block.jobs == 1 and not total.stall_ns):
            block.over = True
            return BlockEnd(index, BlockOutcome.FLAGGED, total, trials, attempt)
        block.pending, block.ran = list(trials), {}
        block.attempt, block.jobs = attempt + 1, 1
        return BlockEnd(index, BlockOutcome.DISCARDED, total, trials, attempt)
