"""Which claims an interpretation was chosen by, or touch a printed number that it was chosen by: there they agree by
construction.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from wirelab.claims.family import Rules, judge
from wirelab.claims.interpretations import ANY, InterpretationTable
from wirelab.claims.load import Claims
from wirelab.claims.model import Claim
from wirelab.claims.part import Levels
from wirelab.claims.source import Published
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.estimate.proportion import Share

Cell = tuple[str, ...]
"""A metric, the levels in the order of the grid, and a statistic."""


@dataclass
class _Noted(Published):
    """The publication's numbers, and 1 where it prints none, so that a form asks for every number that it needs. Notes
    which it asks for.
    """

    cells: set[Cell] = field(default_factory=set)

    def draws(self, metric: str, statistic: str, levels: Levels, horizon_s: float | None = None) -> Draws | None:
        self._note(metric, statistic, levels)
        return super().draws(metric, statistic, levels, horizon_s) or Draws(1.0, np.array([1.0]), np.inf, 0)

    def beyond(self, metric: str, bound_s: float, levels: Levels) -> Share | None:
        self._note(metric, "mean", levels)
        return super().beyond(metric, bound_s, levels) or Share((1,), (2,))

    def _note(self, metric: str, statistic: str, levels: Levels) -> None:
        self.cells.add((metric, *(levels.get(path, ANY) for path in self.claims.file.grid), statistic))


def cells_of(claim: Claim, claims: Claims) -> set[Cell]:
    """The numbers that the parts of a claim that decide it are judged by. A level that a part leaves open is `*`."""
    source = _Noted(claims)
    deciding = [part for written in claim.parts for part in written.expand() if part.decides]
    with np.errstate(all="ignore"):
        judge(
            claim.model_copy(update={"parts": deciding or claim.parts}),
            source, 0.5, Rules(0.5, claims.file.factor, claims.file.labels),
        )  # fmt: skip
    return source.cells


def fitted(claim: Claim, interpretation: InterpretationTable, claims: Claims) -> bool:
    """Whether the interpretation used the claim, or a number that a part that decides the claim touches."""
    if claim.id in interpretation.used_claims or not interpretation.used:
        return claim.id in interpretation.used_claims
    return any(is_used(cell, interpretation) for cell in cells_of(claim, claims))


def is_used(cell: Cell, interpretation: InterpretationTable) -> bool:
    """Whether the interpretation used this number."""
    return any(_same(cell, tuple(used)) for used in interpretation.used)


def _same(cell: Cell, used: Cell) -> bool:
    return all(ANY in pair or pair[0] == pair[1] for pair in zip(cell, used, strict=True))
