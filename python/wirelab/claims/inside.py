"""Contradictions inside a publication: printed numbers that should be in an order, and are not.

Written after the numbers were seen, each table names an order that physics gives, and is checked in every cell, so that
no cell is picked. Knows nothing of a campaign.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field, StrictFloat

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

BASE: Mapping[str, Literal["s", "J", "1"]] = {"ms": "s", "s": "s", "mJ": "J", "J": "J", "1": "1"}
"""Base units of the units of `[published]`."""

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
    factor: StrictFloat = Field(default=1.0, gt=0)
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
    unit = file.published.unit if file.published else "1"
    units = {metric: BASE[unit if isinstance(unit, str) else unit.get(metric, "1")] for metric in file.metrics}
    means = {case: _Mean.of(case, units[case[0]], printed, counts) for case in printed if case[1] == "mean"}
    return [
        {
            "title": table.title,
            "why": table.why,
            "factor": table.factor,
            "compared": len(cells := [_cell(means[one], means[two], table.factor) for one, two in table.pairs()]),
            "against": [
                each for each in cells if each["difference"] > 0 and (each["z"] is None or each["z"] > LEAST_Z)
            ],
        }
        for table in file.inside
    ]


@dataclass(frozen=True)
class _Mean:
    """A printed mean with its standard error, as if its values were independent."""

    cell: PrintedCell
    error: float | None

    @classmethod
    def of(
        cls, case: Case, unit: Literal["s", "J", "1"], printed: Mapping[Case, float], counts: Mapping[Case, int]
    ) -> _Mean:
        metric, _, levels = case
        sd, n = printed.get((metric, "sd", levels)), counts.get(case)
        error = None if not sd or n is None else sd / math.sqrt(n)
        return cls({"metric": metric, "levels": dict(sorted(levels)), "value": printed[case], "unit": unit}, error)


def _cell(lower: _Mean, upper: _Mean, factor: float) -> InsideCell:
    difference = lower.cell["value"] - factor * upper.cell["value"]
    known = lower.error is not None and upper.error is not None
    z = difference / math.hypot(lower.error or 0.0, factor * (upper.error or 0.0)) if known else None
    return {"lower": lower.cell, "upper": upper.cell, "difference": difference, "z": z}


def _case(metric: str, levels: Levels) -> Case:
    rest = frozenset((path, level) for path, level in levels.items() if path != METRIC)
    return levels.get(METRIC, metric), "mean", rest
