"""Numbers that parts of claims are judged by: ratios of cases, and a factor's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.claims.judgement import Context
from wirelab.claims.part import OF_COMPLETED, Levels, Part, Steps, seconds
from wirelab.units import format_duration

if TYPE_CHECKING:
    from wirelab.stats.estimate.bootstrap import Draws
    from wirelab.stats.estimate.sample import Floats


def quantity(part: Part, context: Context) -> str:
    """The quantity that is judged, in words: `mean load time, h2`."""
    where = context.words(part.where)
    metric = context.labels.get(part.metric, part.metric)
    name = f"mean {metric} of completed exchanges" if part.statistic == OF_COMPLETED else f"{part.statistic} {metric}"
    name += cut_at(part.horizon)
    return name + (f", {where}" if where else "")


def cut_at(horizon_ns: int | None) -> str:
    """The end of a name of means at a horizon; empty without one."""
    return "" if horizon_ns is None else f", values cut at {format_duration(horizon_ns)}"


def drawn(part: Part, levels: Levels, context: Context, metric: str | None = None) -> Draws | None:
    """The distribution of the part's statistic in one case; None if there is no such number."""
    return context.source.draws(metric or part.metric, part.statistic, levels, seconds(part.horizon))


def ratio_of(part: Part, upper: Levels, lower: Levels, context: Context) -> Draws | str:
    """The ratio's distribution, or the name of the missing number."""
    sides = [{**part.where, **side} for side in (upper, lower)]
    over, under = (drawn(part, levels, context) for levels in sides)
    if over is None or under is None:
        return f"{part.statistic} {part.metric} of {context.words(sides[0] if over is None else sides[1])}"
    return over.over(under)


def steps_of(part: Steps, context: Context) -> list[Draws] | str:
    """The quantity at each level of the factor. Levels that were not run are left out if fewer are enough."""
    from wirelab.stats.estimate.bootstrap import Draws

    steps: list[Draws] = []
    absent = ""
    for level in part.along.levels:
        at = part.model_copy(update={"where": {**part.where, part.along.path: level}})
        if part.lower is not None:
            step = ratio_of(at, part.upper, part.lower, context)
        else:
            levels = {**at.where, **part.upper}
            step = drawn(part, levels, context) or f"{part.metric} of {context.words(levels)}"
        if isinstance(step, Draws):
            steps.append(step)
            continue
        absent = absent or step
        if part.along.least is None:
            return step
    return absent if len(steps) < (part.along.least or len(part.along.levels)) else steps


def of_all(steps: list[Draws], point: float, values: Floats) -> Draws:
    """A statistic of every step; it is known only if every step is."""
    from wirelab.stats.estimate.bootstrap import Draws

    tells = all(all(step.tells) for step in steps)
    return Draws(
        point,
        values,
        min(step.df for step in steps),
        sum(step.n for step in steps),
        (tells, tells),
        method=steps[0].method,
    )
