"""Which trial runs next, in which lane, and what becomes of a block whose link was late. No clock, no process, no file.

With a fixed number of blocks a free lane takes the next trial of any block, so blocks overlap in time. With a stopping
rule, as many blocks as the lanes can hold follow the smallest number at a time, and the rule is asked before each such
step, for every scenario that it has not stopped.

A trial that is to run alone starts when nothing runs, and nothing starts beside it. Such trials of all blocks that may
begin come first, so that lanes are seldom emptied for one.

A late block halves the lanes; each one kept after that gives a lane back, so that a passing disturbance does not slow
the rest of a long campaign.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from wirelab.runner.lateness import Lateness
from wirelab.schema.plan import Trial

MAX_BLOCK_ATTEMPTS = 3


class Assignment(NamedTuple):
    """A trial that may start now; `lanes` is how many may run side by side."""

    trial: Trial
    block: int
    lane: int
    lanes: int


@dataclass(frozen=True)
class Stopping:
    """When to end before the last block.

    Never before `minimum` blocks. `enough` is the stopping rule, `None` for a fixed number of blocks; once `time_is_up`
    no further block is opened.
    """

    minimum: int
    enough: Callable[[str], bool] | None = None
    time_is_up: Callable[[], bool] = lambda: False


class Cut(NamedTuple):
    """The budget ended the run with blocks left: how many had begun, and of how many scenarios trials are lacking."""

    blocks: int
    scenarios: int


class Fate(StrEnum):
    """What becomes of a block that is over: kept, run again, or kept with a flag after the last attempt."""

    KEPT = "kept"
    DISCARDED = "discarded"
    FLAGGED = "flagged"


class Verdict(NamedTuple):
    """A block that is over, with those of its trials that used the link."""

    block: int
    fate: Fate
    lateness: Lateness
    trials: tuple[Trial, ...]


@dataclass
class _Block:
    pending: list[Trial]
    running: set[str] = field(default_factory=set)
    ran: dict[str, tuple[Trial, Lateness]] = field(default_factory=dict)
    attempt: int = 1
    lanes: int = 1
    opened: bool = False
    over: bool = False


class Schedule:
    """Hands out trials and hears how they went.

    `finished` are trials that need no run; a scenario that has one in a block was not stopped before it. `alone` are
    scenarios whose trials run alone.
    """

    def __init__(
        self,
        blocks: Sequence[Sequence[Trial]],
        lanes: int,
        stopping: Stopping,
        finished: Collection[str] = (),
        alone: Collection[str] = (),
    ) -> None:
        self.lanes = lanes
        self._most_lanes = lanes
        self.stopped: set[str] = set()
        self.cut: Cut | None = None
        self._stopping = stopping
        self._alone = alone
        self._is_reserved = False
        self._step_end = max(stopping.minimum, 1)
        self._free = set(range(lanes))
        self._lane_of: dict[str, int] = {}
        self._blocks = [_Block([trial for trial in block if trial.trial not in finished]) for block in blocks]
        for block in self._blocks:
            block.over = not block.pending

    def next(self) -> Assignment | None:
        """A trial to start now; none while every lane is taken, the open blocks are handed out, or all is over."""
        if len(self._lane_of) >= self.lanes or (self._is_reserved and not self.idle):
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
        """The first that is to run alone, of the blocks that need nobody's leave to begin."""
        for index, block in enumerate(self._blocks[: max(self._stopping.minimum, 1)]):
            if (trial := self._first(block, alone=True)) is not None:
                block.opened = True
                return self._assign(index, trial)
        return None

    def _first(self, block: _Block, *, alone: bool) -> Trial | None:
        return next((trial for trial in block.pending if (trial.scenario in self._alone) is alone), None)

    def over(self, assignment: Assignment, lateness: Lateness | None) -> Verdict | None:
        """Hear that a trial is over (`None`: it never used the link); a verdict if this was the last of its block."""
        block = self._release(assignment)
        if lateness is not None:
            block.ran[assignment.trial.trial] = (assignment.trial, lateness)
        return self._settle(assignment.block)

    def again(self, assignment: Assignment) -> None:
        """Hear that a trial was invalid and must run again."""
        self._release(assignment).pending.insert(0, assignment.trial)

    @property
    def idle(self) -> bool:
        """Nothing runs."""
        return not self._lane_of

    @property
    def outstanding(self) -> set[str]:
        """Trials that are still to be over, as far as is known: a stopping rule may spare some."""
        return {*self._lane_of, *(trial.trial for block in self._blocks for trial in block.pending)}

    def _open(self, index: int) -> bool:
        """Open a block if it may begin; beyond the minimum only when the time and the rule allow."""
        block = self._blocks[index]
        if index >= max(self._stopping.minimum, 1) and block.pending and self._stopping.time_is_up():
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
        self._step_end = index + max(1, self.lanes // max(len(asked - self.stopped), 1))
        return True

    def _cut_short(self, index: int) -> bool:
        """Open no further block; the rule is asked once more, so that it is known what is lacking."""
        if self._stopping.enough is not None and not self._ask(index, self._stopping.enough):
            return False
        if lacking := {trial.scenario for block in self._blocks[index:] for trial in block.pending}:
            self.cut = Cut(index, len(lacking))
        for block in self._blocks[index:]:
            block.pending, block.opened, block.over = [], True, True
        return False

    def _assign(self, index: int, trial: Trial) -> Assignment:
        block = self._blocks[index]
        block.pending.remove(trial)
        self._is_reserved = trial.scenario in self._alone
        lanes = 1 if self._is_reserved else self.lanes
        lane = min(self._free)
        self._free.remove(lane)
        self._lane_of[trial.trial] = lane
        block.running.add(trial.trial)
        block.lanes = max(block.lanes, lanes)
        return Assignment(trial, index, lane, lanes)

    def _release(self, assignment: Assignment) -> _Block:
        name = assignment.trial.trial
        self._free.add(self._lane_of.pop(name))
        block = self._blocks[assignment.block]
        block.running.remove(name)
        return block

    def _settle(self, index: int) -> Verdict | None:
        block = self._blocks[index]
        if block.pending or block.running:
            return None
        trials = tuple(trial for trial, _ in block.ran.values())
        total = sum((lateness for _, lateness in block.ran.values()), Lateness(0, 0))
        if total.tolerable:
            block.over = True
            if block.lanes <= self.lanes:
                self.lanes = min(self.lanes + 1, self._most_lanes)
            return Verdict(index, Fate.KEPT, total, trials)
        self.lanes = min(self.lanes, max(1, block.lanes // 2))
        # Late with one lane: the machine is busy with something else, and the same again would be as late.
        if block.attempt >= MAX_BLOCK_ATTEMPTS or block.lanes == 1:
            block.over = True
            return Verdict(index, Fate.FLAGGED, total, trials)
        block.pending, block.ran = list(trials), {}
        block.attempt, block.lanes = block.attempt + 1, 1
        return Verdict(index, Fate.DISCARDED, total, trials)
