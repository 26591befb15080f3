"""Contradictions inside a publication: printed numbers that should be in an order, and are not.

Written after the numbers were seen, each table names an order that physics gives, and is checked in every cell, so that
no cell is picked. Knows nothing of a campaign.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from wirelab.claims.part import Grid, Levels, Table, cells_of
from wirelab.errors import did_you_mean
from wirelab.experiment.file.positions import Path as KeyPath
from wirelab.experiment.file.problems import shown
from wirelab.schema.printed import InsideCell, InsideRecord, PrintedCell

if TYPE_CHECKING:
    from wirelab.claims.model import ClaimsFile

METRIC = "metric"
"""The key of a side that has a metric of its own."""

LEAST_Z = 3.0
"""Standard errors by which an order must be broken. By chance that happens once in 740 pairs of equal means."""

Case = tuple[str, str, frozenset[tuple[str, str]]]
"""A metric's name in the file, a statistic, and the levels."""


class InsideTable(Table):
    """Two printed means that should be in an order, in each cell of `over` and for each of `metrics`: that of `lower`
    is at most `factor` times that of `upper`. A side may name its own `metric`. `why` says what gives the order.
    """

    title: str
    why: str
    metrics: list[str] = Field(default_factory=list)
    lower: Levels
    upper: Levels
    factor: float = Field(default=1.0, gt=0)
    over: Grid = Field(default_factory=dict)

    def pairs(self) -> Iterator[tuple[Case, Case]]:
        """The lower and the upper mean of each cell."""
        for metric in self.metrics or [""]:
            for cell in cells_of(self.over):
                yield _case(metric, {**cell, **self.lower}), _case(metric, {**cell, **self.upper})


def mistakes(file: ClaimsFile, printed: Container[Case]) -> Iterator[tuple[KeyPath, str, str | None]]:
    """What is wrong: the key, a sentence, and a hint."""
    for index, table in enumerate(file.inside):
        at: KeyPath = ("inside", index)
        unknown = list(_unknown(table, {METRIC: list(file.metrics), **file.grid}))
        for key, what, name, known in unknown:
            yield (*at, key), f"unknown {what} ({shown(name)})", did_you_mean(name, known)
        absent = (case for pair in table.pairs() for case in pair if case not in printed)
        if not unknown and (case := next(absent, None)) is not None:
            words = " ".join(filter(None, [case[0], *(level for _, level in sorted(case[2]))]))
            yield at, f"the publication prints no such mean ({shown(words)})", "name a metric and every factor"


def _unknown(table: InsideTable, known: Mapping[str, list[str]]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Each name that is unknown: its key, what it should be, the name, and the known ones."""
    named = [("metrics", METRIC, metric) for metric in table.metrics]
    named += [(key, path, level) for key in ("lower", "upper") for path, level in getattr(table, key).items()]
    named += [("over", path, level) for path, levels in table.over.items() for level in levels]
    for key, path, level in named:
        if path not in known:
            yield key, "factor", path, list(known)
        elif level not in known[path]:
            yield key, METRIC if path == METRIC else f"level of {path}", level, known[path]


def inside(file: ClaimsFile, printed: Mapping[Case, float], counts: Mapping[Case, int]) -> list[InsideRecord]:
    """As `verdicts.json` has them. `counts` are the values behind each mean; without one, or without a standard
    deviation, an order is broken by any difference.
    """
    return [
        {
            "title": table.title,
            "why": table.why,
            "factor": table.factor,
            "compared": len(pairs := list(table.pairs())),
            "against": [
                cell
                for pair in pairs
                if (cell := _cell(*pair, table.factor, printed, counts))["difference"] > 0
                and (cell["z"] is None or cell["z"] > LEAST_Z)
            ],
        }
        for table in file.inside
    ]


def _case(metric: str, levels: Levels) -> Case:
    rest = frozenset((path, level) for path, level in levels.items() if path != METRIC)
    return levels.get(METRIC, metric), "mean", rest


def _cell(
    lower: Case, upper: Case, factor: float, printed: Mapping[Case, float], counts: Mapping[Case, int]
) -> InsideCell:
    difference = printed[lower] - factor * printed[upper]
    errors = [_error(case, printed, counts) for case in (lower, upper)]
    z = None if None in errors else difference / math.hypot(errors[0] or 0.0, factor * (errors[1] or 0.0))
    return {"lower": _printed(lower, printed), "upper": _printed(upper, printed), "difference": difference, "z": z}


def _error(mean: Case, printed: Mapping[Case, float], counts: Mapping[Case, int]) -> float | None:
    """The standard error of a mean, as if its values were independent."""
    metric, _, levels = mean
    sd, n = printed.get((metric, "sd", levels)), counts.get(mean)
    return None if not sd or n is None else sd / math.sqrt(n)


def _printed(case: Case, printed: Mapping[Case, float]) -> PrintedCell:
    return {"metric": case[0], "levels": dict(sorted(case[2])), "value": printed[case]}
