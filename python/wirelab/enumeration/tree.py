"""The tree of loss patterns: which runs there are, and which are still to be made.

Its root is the run without a loss. From a run whose last lost packet is the m-th draw, a child loses one later packet
too. So each set of lost packets is visited once. Whatever the loss model, the weight of a run and of the branches below
it sum to the weight of the draws up to its last lost packet: all runs and all branches that were not followed sum to 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from wirelab.errors import RunError
from wirelab.schema.exact import Draw

Pattern = tuple[int, ...]
"""Indices of the lost packets among the draws of a run, in their order."""


@dataclass(frozen=True)
class Run:
    """A run with one pattern of losses. `draws` are those before `end_s` and before the horizon: later ones cannot
    change whether the exchange took longer. `end_s` is None if the exchange timed out or failed.
    """

    pattern: Pattern
    draws: tuple[Draw, ...]
    end_s: float | None

    def exceeds(self, x_s: float) -> bool:
        """Whether the exchange took longer; one without an end did."""
        return self.end_s is None or self.end_s > x_s

    @property
    def first_child(self) -> int:
        """The first draw that a child may lose."""
        return self.pattern[-1] + 1 if self.pattern else 0

    def branch(self, at: int) -> Branch:
        """That which also loses this packet."""
        lost = replace(self.draws[at], lost=True)
        return Branch((*self.pattern, at), (*self.draws[:at], lost), self)


@dataclass(frozen=True)
class Branch:
    """All runs that begin with these draws, of which the last is a loss: those of its pattern, and of all below it."""

    pattern: Pattern
    draws: tuple[Draw, ...]
    parent: Run = field(repr=False)

    def exceeds(self, x_s: float) -> bool | None:
        """Whether every run of it takes longer; None if that is not known. Until its last packet gets to the loss
        stage it is its parent, which had not ended by then.
        """
        return True if self.draws[-1].at_s > x_s else None


@dataclass
class Tree:
    """Runs by their patterns. `horizon_s` is the largest delay that is asked for."""

    horizon_s: float
    runs: dict[Pattern, Run] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        """Add a run. Raises `RunError` if it is not what its parent becomes by one more loss: then a run is no function
        of its pattern, and no weight holds.
        """
        run = replace(run, draws=tuple(_before(run, self.horizon_s)))
        if run.pattern:
            parent = self.runs[run.pattern[:-1]]
            expected = parent.branch(run.pattern[-1]).draws
            if run.draws[: len(expected)] != expected:
                raise RunError(
                    f"a run is not repeatable: with {_words(run.pattern)} lost it differs before its last loss from "
                    f"the run with {_words(parent.pattern)} lost"
                )
        elif any(draw.lost for draw in run.draws):
            raise RunError("the run without losses lost a packet")
        self.runs[run.pattern] = run

    def draws_of(self, pattern: Pattern) -> tuple[Draw, ...]:
        """The draws up to the last loss of a pattern whose parent was run; none without a loss."""
        return self.runs[pattern[:-1]].branch(pattern[-1]).draws if pattern else ()

    def branches(self) -> Iterator[Branch]:
        """Those that were not followed."""
        for run in self.runs.values():
            for at in range(run.first_child, len(run.draws)):
                if (*run.pattern, at) not in self.runs:
                    yield run.branch(at)

    def whole_to(self, losses: int) -> bool:
        """Whether every pattern with so many losses at most was run."""
        return all(len(branch.pattern) > losses for branch in self.branches())


def _before(run: Run, horizon_s: float) -> Sequence[Draw]:
    end_s = horizon_s if run.end_s is None else min(run.end_s, horizon_s)
    return [draw for draw in run.draws if draw.at_s <= end_s]


def _words(pattern: Pattern) -> str:
    if not pattern:
        return "nothing"
    return "packets " + ", ".join(str(at + 1) for at in pattern) if len(pattern) > 1 else f"packet {pattern[0] + 1}"
