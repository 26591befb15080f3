"""An order of cases, judged pair by pair."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from pydantic import Field

from wirelab.claims.judgement import Bench, Judgement, decided_by, number, within, written
from wirelab.claims.part import Form, Levels, Part
from wirelab.claims.quantities import quantity, ratio_of


class Order(Part):
    """The first is the smallest, and so on; each is more than `by` times the one before."""

    form: Literal["order"]
    ascending: list[Levels] = Field(min_length=2)
    by: float = Field(default=1, ge=1)

    def judge(self, bench: Bench) -> Judgement:
        below, above = self.ascending
        much = f" by more than a factor of {self.by:g}" if self.by > 1 else ""
        text = f"{quantity(self, bench)}: {bench.words(below)} below {bench.words(above)}{much}"
        ratio = ratio_of(self, above, below, bench)
        if isinstance(ratio, str):
            return bench.missing("order", text, ratio)
        verdict = within(bench, ratio, self.by, None, strict=True)
        why = f"{bench.words(above)} takes {written(number(ratio))} times as much as {bench.words(below)}"
        return Judgement("order", text, verdict, why, None, number(ratio), judged=decided_by(bench, verdict, ratio))

    def expand(self) -> list[Form]:
        return [
            cell.model_copy(update={"ascending": list(pair)})
            for cell in self.cells()
            for pair in pairwise(self.ascending)
        ]
