"""A cell of a grid in which one case is above another."""

from __future__ import annotations

from typing import Literal

from wirelab.claims.forms.order import Order
from wirelab.claims.judgement import CONFIRMED, CONTRADICTED, INCONCLUSIVE, Context, Judgement
from wirelab.claims.part import Form, Levels, Part, cells_of
from wirelab.claims.quantities import quantity


class Existence(Part):
    """There is a cell of `over` in which `upper` is above `lower`."""

    form: Literal["existence"]
    upper: Levels
    lower: Levels

    def expand(self) -> list[Form]:
        return [self]

    def judge(self, context: Context) -> Judgement:
        cells = list(cells_of(self.over))
        upper, lower = context.words(self.upper), context.words(self.lower)
        text = f"{quantity(self, context)}: {upper} above {lower} in one of {len(cells)} cells"
        # One confirmed cell confirms the whole and only all contradict it, so the two levels are swapped.
        one = Context(
            context.source, 1 - (1 - context.confirm) / len(cells), context.confirm, context.factor, context.labels
        )
        judged = []
        for cell in cells:
            where = {**self.where, **cell}
            order = Order(
                form="order",
                metric=self.metric,
                statistic=self.statistic,
                where=where,
                ascending=[self.lower, self.upper],
            ).model_copy(update={"horizon": self.horizon})
            judged.append(order.judge(one))
        verdicts = [judgement.verdict for judgement in judged]
        if CONFIRMED in verdicts:
            verdict, why = CONFIRMED, f"{verdicts.count(CONFIRMED)} of {len(cells)} cells show it"
        elif all(verdict == CONTRADICTED for verdict in verdicts):
            verdict, why = CONTRADICTED, "every cell shows the opposite"
        else:
            verdict, why = INCONCLUSIVE, "no cell shows it, and not every cell shows the opposite"
        return Judgement("existence", text, verdict, why, parts=tuple(judged))
