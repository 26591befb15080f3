"""Numbers that parts of claims are judged by: ratios of cases, and a factor's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.claims.judgement import Bench
from wirelab.claims.part import Levels, Part, Steps

if TYPE_CHECKING:
    from wirelab.stats.estimate.bootstrap import Draws
    from wirelab.stats.estimate.sample import Floats


def quantity(part: Part, bench: Bench) -> str:
    """What is judged, in words: `mean load time, h2`."""
    where = bench.words(part.where)
    return f"{part.statistic} {bench.labels.get(part.metric, part.metric)}" + (f", {where}" if where else "")


def ratio_of(part: Part, upper: Levels, lower: Levels, bench: Bench) -> Draws | str:
    """The ratio's distribution, or words for the number that is missing."""
    sides = [{**part.where, **side} for side in (upper, lower)]
    over, under = (bench.source.draws(part.metric, part.statistic, levels) for levels in sides)
    if over is None or under is None:
        return f"{part.statistic} {part.metric} of {bench.words(sides[0] if over is None else sides[1])}"
    return over.over(under)


def steps_of(part: Steps, bench: Bench) -> list[Draws] | str:
    """The quantity at each level of the factor, without those that were not run where fewer are enough."""
    from wirelab.stats.estimate.bootstrap import Draws

    steps: list[Draws] = []
    absent = ""
    for level in part.along.levels:
        at = part.model_copy(update={"where": {**part.where, part.along.path: level}})
        if part.lower is not None:
            step = ratio_of(at, part.upper, part.lower, bench)
        else:
            levels = {**at.where, **part.upper}
            step = bench.source.draws(part.metric, part.statistic, levels) or f"{part.metric} of {bench.words(levels)}"
        if isinstance(step, Draws):
            steps.append(step)
            continue
        absent = absent or step
        if part.along.least is None:
            return step
    return absent if len(steps) < (part.along.least or len(part.along.levels)) else steps


def of_all(steps: list[Draws], point: float, values: Floats) -> Draws:
    """A statistic of every step; it tells something only if all of them do."""
    from wirelab.stats.estimate.bootstrap import Draws

    tells = all(all(step.tells) for step in steps)
    return Draws(point, values, min(step.df for step in steps), sum(step.n for step in steps), (tells, tells))
