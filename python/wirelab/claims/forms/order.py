"""An order of cases, judged pair by pair."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from pydantic import Field, StrictFloat

from wirelab.claims.judgement import Context, Judgement, decided_by, number, within, written
from wirelab.claims.part import Form, Levels, Part
from wirelab.claims.quantities import quantity, ratio_of


class Order(Part):
    """The first is the smallest, and so on; each is more than `by` times the one before."""

    form: Literal["order"]
    ascending: list[Levels] = Field(min_length=2)
    by: StrictFloat = Field(default=1, ge=1)

    def judge(self, context: Context) -> Judgement:
        below, above = self.ascending
        much = f" by more than a factor of {self.by:g}" if self.by > 1 else ""
        text = f"{quantity(self, context)}: {context.words(below)} below {context.words(above)}{much}"
        ratio = ratio_of(self, above, below, context)
        if isinstance(ratio, str):
            return context.missing("order", text, ratio)
        verdict = within(context, ratio, self.by, None, strict=True)
        why = f"{context.words(above)} takes {written(number(ratio))} times as much as {context.words(below)}"
        return Judgement("order", text, verdict, why, None, number(ratio), judged=decided_by(context, verdict, ratio))

    def expand(self) -> list[Form]:
        return [
            cell.model_copy(update={"ascending": list(pair)})
            for cell in self.cells()
            for pair in pairwise(self.ascending)
        ]
