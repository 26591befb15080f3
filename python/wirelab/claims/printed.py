"""All numbers that a publication prints, and our estimates of them at an interpretation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from wirelab.claims.fitted import is_used
from wirelab.claims.grid import AS_RUN, Grid
from wirelab.claims.inside import Case, inside
from wirelab.claims.interpretations import InterpretationTable, base_levels, first_levels
from wirelab.claims.load import Claims
from wirelab.claims.model import ClaimsFile
from wirelab.claims.one_line import judged_by, means_s
from wirelab.claims.part import Levels
from wirelab.claims.skill import Nulls, Number, skill
from wirelab.claims.source import Measured
from wirelab.schema.plan import Level
from wirelab.schema.printed import InsideRecord, ModelRecord, NullModel, SkillRecord
from wirelab.schema.verdicts import PublishedNumber

SourceAt = Callable[[InterpretationTable | None], tuple[Mapping[str, Level], Measured | None]]


def printed(claims: Claims) -> Mapping[Case, float]:
    """Every number in base units; of cases that were published value by value their mean and standard deviation."""
    return {**claims.numbers, **_moments(claims)}


def published_numbers(claims: Claims) -> list[PublishedNumber]:
    """As `verdicts.json` has them."""
    metrics = claims.file.metrics
    return [
        {"metric": metrics[metric][0], "levels": dict(sorted(levels)), "statistic": statistic, "value": value}
        for (metric, statistic, levels), value in printed(claims).items()
    ]


def null_predictions(claims: Claims) -> list[dict[NullModel, float]]:
    """For each number what null models predict that have not seen it, in the order of `published_numbers`."""
    numbers = [
        Number(metric, dict(levels), statistic, paper, None)
        for (metric, statistic, levels), paper in printed(claims).items()
    ]
    nulls = Nulls([each for each in numbers if each.paper > 0], null_cell(claims.file))
    return [nulls.blind(each) if each.paper > 0 else {} for each in numbers]


def orders_inside(claims: Claims) -> list[InsideRecord]:
    """The orders that the numbers should have, and where they have not."""
    size = claims.file.published.sample_size if claims.file.published else None
    counts = {} if size is None else dict.fromkeys(claims.numbers, size)
    counts |= {(metric, "mean", levels): len(values) for (metric, levels), values in claims.values.items()}
    return inside(claims.file, printed(claims), counts)


def models_at(claims: Claims, over: Grid, source_of: SourceAt) -> list[ModelRecord]:
    """Each one-line model next to the printed means, and to ours where its interpretation was run. `over` is the grid
    of choices as the campaign varies it. `source_of` gives the levels that were run at an interpretation, and what was
    measured there. Without the level that is the length of a round, ours are left out.
    """
    file, grid, numbers = claims.file, list(claims.file.grid), printed(claims)
    records = []
    for table in file.model:
        at = next((each for each in file.interpretation if each.name == table.interpretation), None)
        levels, source = source_of(at)
        if at is None:
            place = over.place(levels)
            there = first_levels(file) | {path: level for path, level in place.items() if level != AS_RUN}
            source = None if place.get(table.per_round) == AS_RUN else source
        else:
            there = base_levels(file) | at.levels
        drawn = {
            cell: None if source is None else source.draws(table.metric, "mean", dict(zip(grid, cell, strict=True)))
            for cell in table.counts
        }
        ours = {cell: each.point for cell, each in drawn.items() if each is not None and each.point > 0}
        round_s = table.round_s(there)
        if round_s is not None:
            records.append(judged_by(table, grid, round_s, means_s(numbers, table.metric, grid), ours))
    return records


def null_cell(file: ClaimsFile) -> Levels:
    """The levels of the cell that predicts the others: as the file names it, or the first level of the grid's second
    factor. Empty if the grid has one factor.
    """
    if file.null_cell:
        return file.null_cell
    return {path: levels[0] for path, levels in list(file.grid.items())[1:2]}


def skill_at(
    interpretation: InterpretationTable, claims: Claims, source: Measured, *, by_rule: bool = False
) -> SkillRecord:
    """The skill of the interpretation that `source` measured."""
    numbers = []
    for (metric, statistic, levels), paper in printed(claims).items():
        at = dict(levels)
        cell = (metric, *(at[path] for path in claims.file.grid), statistic)
        if paper > 0:
            ours = source.draws(metric, statistic, at)
            numbers.append(Number(metric, at, statistic, paper, ours, is_used(cell, interpretation)))
    first = base_levels(claims.file)
    knobs = sum(level != first[path] for path, level in interpretation.levels.items())
    return skill(interpretation.name, knobs, numbers, null_cell(claims.file), by_rule=by_rule)


def _moments(claims: Claims) -> dict[Case, float]:
    return {
        (metric, statistic, levels): number
        for (metric, levels), values in ((case, np.array(each)) for case, each in claims.values.items())
        for statistic, number in (("mean", float(values.mean())), ("sd", float(values.std(ddof=1))))
    }
