"""A cell of a grid in which one case is above another."""

from __future__ import annotations

from typing import Literal

from wirelab.claims.forms.order import Order
from wirelab.claims.judgement import HELD, REFUTED, UNDECIDED, Bench, Judgement
from wirelab.claims.part import Form, Levels, Part, cells_of
from wirelab.claims.quantities import quantity


class Existence(Part):
    """There is a cell of `over` in which `upper` is above `lower`."""

    form: Literal["existence"]
    upper: Levels
    lower: Levels

    def expand(self) -> list[Form]:
        return [self]

    def judge(self, bench: Bench) -> Judgement:
        cells = list(cells_of(self.over))
        upper, lower = bench.words(self.upper), bench.words(self.lower)
        text = f"{quantity(self, bench)}: {upper} above {lower} in one of {len(cells)} cells"
        # One held cell holds the whole and only all refute it, so the two levels change places.
        one = Bench(bench.source, 1 - (1 - bench.hold) / len(cells), bench.hold, bench.factor, bench.labels)
        judged = []
        for cell in cells:
            where = {**self.where, **cell}
            order = Order(
                form="order",
                metric=self.metric,
                statistic=self.statistic,
                where=where,
                ascending=[self.lower, self.upper],
            )
            judged.append(order.judge(one))
        verdicts = [judgement.verdict for judgement in judged]
        if HELD in verdicts:
            verdict, why = HELD, f"{verdicts.count(HELD)} of {len(cells)} cells show it"
        elif all(verdict == REFUTED for verdict in verdicts):
            verdict, why = REFUTED, "every cell shows the opposite"
        else:
            verdict, why = UNDECIDED, "no cell shows it, and not every cell shows the opposite"
        return Judgement("existence", text, verdict, why, parts=tuple(judged))
