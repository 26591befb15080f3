"""The number of cells of a grid in which one case is below another."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal

from pydantic import Field, StrictInt

from wirelab.claims.judgement import (
    INCONCLUSIVE,
    Context,
    Judgement,
    all_of,
    decided_by,
    number,
    within,
    written,
)
from wirelab.claims.part import Form, Grid, Horizon, Levels, Statistic, cells_of, seconds
from wirelab.claims.quantities import cut_at

if TYPE_CHECKING:
    from wirelab.stats.estimate.bootstrap import Draws

LEAST_DF = 4
"""With fewer trials every resample may agree on the order by chance."""


class Count(Form):
    """The number of cells in which `winner` is below `loser`; a cell for each metric, statistic and combination of
    `over`.

    `majority` adds the direction: more than half. `counted` is what the publication's own tables give, where its text
    says something else; both are judged, and `published` decides.
    """

    form: Literal["count"]
    winner: Levels
    loser: Levels
    metrics: list[str] = Field(min_length=1)
    statistics: list[Statistic] = Field(min_length=1)
    horizon: Horizon = None
    over: Grid
    where: Levels = Field(default_factory=dict)
    published: StrictInt = Field(ge=1)
    counted: StrictInt | None = None
    majority: bool = False

    def metric_names(self) -> list[str]:
        return self.metrics

    def statistic_names(self) -> list[Statistic]:
        return self.statistics

    def judge(self, context: Context) -> Judgement:
        cells = [
            (metric, statistic, {**self.where, **cell})
            for metric, statistic, cell in product(self.metrics, self.statistics, cells_of(self.over))
        ]
        winner, loser = context.words(self.winner), context.words(self.loser)
        text = f"{winner} below {loser} in {self.published} of {len(cells)} comparisons{cut_at(self.horizon)}"
        found = []
        for metric, statistic, levels in cells:
            pair = [
                context.source.draws(metric, statistic, {**levels, **side}, seconds(self.horizon))
                for side in (self.winner, self.loser)
            ]
            if pair[0] is None or pair[1] is None:
                side = self.winner if pair[0] is None else self.loser
                return context.missing("count", text, f"{statistic} {metric} of {context.words({**side, **levels})}")
            found.append((pair[0], pair[1]))
        wins = _wins(found)
        if wins.df < LEAST_DF:
            why = f"a count needs {LEAST_DF + 1} trials of each scenario"
            return Judgement("count", text, INCONCLUSIVE, why, self.published, number(wins), decidable=False)
        verdicts = [within(context, wins, self.published / context.factor, self.published * context.factor)]
        words = f"{written(number(wins))} of {len(cells)}"
        if self.majority:
            verdicts.append(within(context, wins, len(cells) / 2, None, strict=True))
            words += f"; more than half {verdicts[1]}"
        within_factor = "" if context.factor == 1 else f" within a factor of {context.factor:g}"
        why = f"{winner} is below in {words}; the published {self.published} is {verdicts[0]}{within_factor}"
        if self.counted is not None:
            counted = within(context, wins, self.counted / context.factor, self.counted * context.factor)
            why += f"; {self.counted}, as the publication's own tables count, {counted}"
        verdict = all_of(verdicts)
        judged = decided_by(context, verdict, wins)
        return Judgement("count", text, verdict, why, self.published, number(wins), judged=judged)


def _wins(pairs: list[tuple[Draws, Draws]]) -> Draws:
    import numpy as np

    from wirelab.stats.estimate.bootstrap import Draws

    point = float(sum(winner.point < loser.point for winner, loser in pairs))
    values = np.array([winner.values < loser.values for winner, loser in pairs], dtype=np.float64).sum(axis=0)
    df = min(min(winner.df, loser.df) for winner, loser in pairs)
    # A cell is not a certain win if the winner may be higher, and not a certain loss if it may be lower.
    surpluses = [winner.minus(loser).tells for winner, loser in pairs]
    tells = all(high for _, high in surpluses), all(low for low, _ in surpluses)
    return Draws(point, values, df, sum(winner.n + loser.n for winner, loser in pairs), tells)
