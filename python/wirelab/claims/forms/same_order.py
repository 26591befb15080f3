"""Cases that have the same order in every cell of a grid."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Literal

from pydantic import Field

from wirelab.claims.judgement import (
    CONFIRMED,
    CONTRADICTED,
    INCONCLUSIVE,
    Context,
    Judgement,
    decided_by,
    number,
    within,
    written,
)
from wirelab.claims.part import Form, Grid, Levels, Part, cells_of
from wirelab.claims.quantities import quantity, ratio_of


class SameOrder(Part):
    """Cases have the same order in every cell of `across`; which order does not matter."""

    form: Literal["same-order"]
    of: list[Levels] = Field(min_length=2)
    across: Grid

    def judge(self, context: Context) -> Judgement:
        first, second = self.of
        cells = list(cells_of(self.across))
        both = f"{context.words(first)} and {context.words(second)}"
        text = f"{quantity(self, context)}: {both} in one order in {len(cells)} cells"
        # Any two cells may differ.
        pairs = max(len(cells) * (len(cells) - 1) // 2, 1)
        either = replace(context, contradict=1 - (1 - context.contradict) / pairs)
        slower, faster, ratios = [], [], []
        for cell in cells:
            ratio = ratio_of(self.model_copy(update={"where": {**self.where, **cell}}), second, first, context)
            if isinstance(ratio, str):
                return context.missing("same-order", text, ratio)
            slower.append(within(either, ratio, 1.0, None, strict=True))
            faster.append(within(either, ratio, None, 1.0, strict=True))
            ratios.append((context.words(cell), ratio))
        if CONTRADICTED in slower and CONTRADICTED in faster:
            verdict = CONTRADICTED
        else:
            verdict = CONFIRMED if {CONFIRMED} in ({*slower}, {*faster}) else INCONCLUSIVE
        listed = ", ".join(f"{written(number(ratio))} ({words})" for words, ratio in ratios)
        why = f"{context.words(second)} takes so many times as much as {context.words(first)}: {listed}"
        judged = tuple(each for words, ratio in ratios for each in decided_by(either, verdict, ratio, words))
        return Judgement("same-order", text, verdict, why, judged=judged)

    def expand(self) -> list[Form]:
        return [
            cell.model_copy(update={"of": list(pair)}) for cell in self.cells() for pair in combinations(self.of, 2)
        ]
