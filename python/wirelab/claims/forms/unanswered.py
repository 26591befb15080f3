"""Exchanges that stay unanswered, judged by counts of outcomes and not by a metric."""

from __future__ import annotations

from itertools import chain
from typing import Literal

from pydantic import Field, StrictFloat

from wirelab.claims.judgement import CONFIRMED, CONTRADICTED, INCONCLUSIVE, Context, Judgement, written
from wirelab.claims.part import Form, Grid, Levels, cells_of
from wirelab.stats.estimate.model import LEVEL


class Unanswered(Form):
    """Some exchanges of the cases `of` stay unanswered: they time out or fail. A share below `least` counts as none; it
    is of the exchanges of all cells of `over` together.
    """

    form: Literal["unanswered"]
    of: Levels
    where: Levels = Field(default_factory=dict)
    over: Grid = Field(default_factory=dict)
    least: StrictFloat = Field(gt=0, lt=1)

    def judge(self, context: Context) -> Judgement:
        """Confirmed by a single exchange without an answer, which shows that there are some; contradicted if the
        interval of the share lies below `least`.
        """
        from wirelab.stats.estimate.proportion import share

        text = f"some exchanges of {context.words({**self.of, **self.where})} stay unanswered"
        found = []
        for cell in cells_of(self.over):
            levels = {**self.where, **cell, **self.of}
            trials = context.source.unanswered(levels)
            if trials is None:
                return context.missing("unanswered", text, f"how exchanges of {context.words(levels)} ended")
            found.append(trials)
        missing, sizes = zip(*chain.from_iterable(found), strict=True)
        ours = share(missing, sizes, LEVEL)
        wide = share(missing, sizes, context.contradict)
        verdict = INCONCLUSIVE
        if any(missing):
            verdict = CONFIRMED
        elif wide.high is not None and wide.high < self.least:
            verdict = CONTRADICTED
        why = f"{sum(missing)} of {sum(sizes)} without an answer, a share of {written(ours)}"
        if verdict == INCONCLUSIVE:
            why += f"; {self.least:.3g} or more is not excluded"
        # A single exchange confirms it for any interval.
        judged = () if verdict == CONFIRMED else (("", wide),)
        return Judgement("unanswered", text, verdict, why, None, ours, judged=judged)
