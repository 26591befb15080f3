"""One-line models: a time is a known number of rounds, each as long as a round trip, plus constants.

They are written after the numbers were seen. Their constants are fitted by least squares, once to the printed means and
once to ours, and their error counts them. Pure but for the mistakes of a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import TYPE_CHECKING

from pydantic import Field, field_validator

from wirelab.claims.part import Entry, Levels, Table
from wirelab.errors import did_you_mean
from wirelab.experiment.file.positions import Path as KeyPath
from wirelab.experiment.file.problems import shown
from wirelab.experiment.file.quantities import Duration
from wirelab.schema.printed import FittedConstant, ModelError, ModelRecord
from wirelab.units import UnitError, duration_ns

if TYPE_CHECKING:
    from wirelab.claims.model import ClaimsFile

Cell = tuple[str, ...]
"""The levels in the order of the grid."""


class ModelTable(Table):
    """A linear model of the mean of `metric`. `rounds` are the levels of a cell in the order of `[grid]`, then the
    number of rounds. `per-round` is the length of one: a duration, or the path of a choice, whose level it then is.
    `plus` is a known duration of every cell, and `constant` a factor with one fitted constant for each level.
    `interpretation` is where it applies, instead of the point that is judged first. `note` says where it fails.
    """

    name: str
    text: str
    note: str | None = None
    metric: str
    per_round: str = Field(alias="per-round")
    plus: Duration = 0
    constant: str | None = None
    interpretation: str | None = None
    rounds: list[list[Entry]] = Field(min_length=1)

    @field_validator("rounds")
    @classmethod
    def _levels_then_a_number(cls, rows: list[list[str | float]]) -> list[list[str | float]]:
        for row in rows:
            if not row or isinstance(row[-1], str) or not all(isinstance(level, str) for level in row[:-1]):
                raise ValueError(f"needs levels, then a number of rounds ({shown(row)})")
        return rows

    @property
    def cells(self) -> list[tuple[Cell, float]]:
        """Each row as its cell and the number of rounds."""
        return [(tuple(map(str, row[:-1])), float(row[-1])) for row in self.rounds]

    @property
    def counts(self) -> dict[Cell, float]:
        """The number of rounds of each cell."""
        return dict(self.cells)

    def round_s(self, levels: Mapping[str, object]) -> float | None:
        """The length of a round, in seconds, where the choices have these levels; None if no level is a duration."""
        try:
            return duration_ns(levels.get(self.per_round, self.per_round)) / 1e9
        except UnitError:
            return None


def mistakes(file: ClaimsFile) -> Iterator[tuple[KeyPath, str, str | None]]:
    """What is wrong: the key, a sentence, and a hint."""
    choices, named = [each.path for each in file.choice], [each.name for each in file.interpretation]
    for index, table in enumerate(file.model):
        at: KeyPath = ("model", index)
        for key, name, known in (
            ("metric", table.metric, list(file.metrics)),
            ("constant", table.constant, list(file.grid)),
            ("interpretation", table.interpretation, named),
        ):
            if name is not None and name not in known:
                what = "factor" if key == "constant" else key
                yield (*at, key), f"unknown {what} ({shown(name)})", did_you_mean(name, known)
        if table.per_round not in choices and table.round_s({}) is None:
            needs = f"should be a duration or the path of a choice ({shown(table.per_round)})"
            yield (*at, "per-round"), needs, did_you_mean(table.per_round, choices, 'such as "100 ms"')
        yield from _rounds(table, file, at)


def _rounds(table: ModelTable, file: ClaimsFile, model: KeyPath) -> Iterator[tuple[KeyPath, str, str | None]]:
    """What is wrong with the cells and their numbers of rounds."""
    seen: set[Cell] = set()
    for number, (cell, rounds) in enumerate(table.cells):
        at: KeyPath = (*model, "rounds", number)
        if len(cell) != len(file.grid):
            needs = f"needs {len(file.grid)} levels and a number of rounds ({shown(list(cell))})"
            yield at, needs, None
            continue
        if rounds < 0:
            yield at, f"needs a number of rounds that is at least 0 ({rounds:g})", "0 if none is needed"
        if cell in seen:
            yield at, f"has the cell of a row before it ({shown(list(cell))})", "leave one of them out"
        seen.add(cell)
        for path, level in zip(file.grid, cell, strict=True):
            if level not in file.grid[path]:
                yield at, f"unknown level of {path} ({shown(level)})", did_you_mean(level, file.grid[path])


def judged_by(
    table: ModelTable,
    grid: list[str],
    round_s: float,
    printed_s: Mapping[Cell, float],
    ours_s: Mapping[Cell, float],
) -> ModelRecord:
    """The model next to the printed means and to ours, by cell, in seconds. `grid` are the paths of the factors."""
    return {
        "name": table.name,
        "text": table.text,
        "note": table.note,
        "metric": table.metric,
        "interpretation": table.interpretation,
        "round_s": round_s,
        "printed": _error(table, grid, round_s, printed_s),
        "ours": _error(table, grid, round_s, ours_s),
    }


def _error(table: ModelTable, grid: list[str], round_s: float, means_s: Mapping[Cell, float]) -> ModelError | None:
    """None without a mean. With as many constants as means there is no error to speak of."""
    known = {cell: table.plus / 1e9 + rounds * round_s for cell, rounds in table.counts.items() if cell in means_s}
    if not known:
        return None
    place = grid.index(table.constant) if table.constant is not None else None
    constants: dict[str, float] = {}
    if place is not None:
        for level in dict.fromkeys(cell[place] for cell in known):
            constants[level] = fmean(means_s[cell] - known[cell] for cell in known if cell[place] == level)
    predicted = {cell: time + (constants[cell[place]] if place is not None else 0.0) for cell, time in known.items()}
    defined = len(known) > len(constants) and all(time > 0 for time in predicted.values())
    fitted: list[FittedConstant] = [{"level": level, "value_s": value} for level, value in constants.items()]
    return {
        "n": len(known),
        "constants": fitted,
        "error": fmean(abs(math.log(predicted[cell] / means_s[cell])) for cell in known) if defined else None,
        "cells": [
            {"levels": dict(zip(grid, cell, strict=True)), "predicted_s": predicted[cell], "mean_s": means_s[cell]}
            for cell in known
        ],
    }


def means_s(numbers: Mapping[tuple[str, str, frozenset[tuple[str, str]]], float], metric: str, grid: list[str]) -> dict[
    Cell, float
]:  # fmt: skip
    """The printed means of a metric above 0, by cell."""
    found: dict[Cell, float] = {}
    for (name, statistic, levels), value in numbers.items():
        at: Levels = dict(levels)
        if (name, statistic) == (metric, "mean") and value > 0:
            found[tuple(at[path] for path in grid)] = value
    return found
