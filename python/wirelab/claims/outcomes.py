"""Claims about how exchanges ended, judged by counts of outcomes and not by a metric."""

from __future__ import annotations

from itertools import chain

from wirelab.claims.judgement import HELD, REFUTED, UNDECIDED, Bench, Judgement, written
from wirelab.claims.model import Levels, Unanswered
from wirelab.stats.estimate import LEVEL
from wirelab.stats.proportion import share


def judge_unanswered(part: Unanswered, cells: list[Levels], bench: Bench) -> Judgement:
    """Held by a single exchange without an answer, for one shows that there are some; refuted if the interval of the
    share lies below `least`.
    """
    text = f"some exchanges of {bench.words({**part.of, **part.where})} stay unanswered"
    found = []
    for cell in cells:
        levels = {**part.where, **cell, **part.of}
        trials = bench.source.unanswered(levels)
        if trials is None:
            return bench.missing("unanswered", text, f"how exchanges of {bench.words(levels)} ended")
        found.append(trials)
    missing, sizes = zip(*chain.from_iterable(found), strict=True)
    ours = share(missing, sizes, LEVEL)
    wide = share(missing, sizes, bench.refute)
    verdict = UNDECIDED
    if any(missing):
        verdict = HELD
    elif wide.high is not None and wide.high < part.least:
        verdict = REFUTED
    why = f"{sum(missing)} of {sum(sizes)} without an answer, a share of {written(ours)}"
    if verdict == UNDECIDED:
        why += f"; {part.least:.3g} or more is not excluded"
    # A single exchange holds it, whatever the interval.
    judged = () if verdict == HELD else (("", wide),)
    return Judgement("unanswered", text, verdict, why, None, ours, judged=judged)
