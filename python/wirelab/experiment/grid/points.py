"""Factors and the points that they span: factors together, and around them choices and named interpretations."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from wirelab.experiment.file.positions import Path
from wirelab.schema import canonical_json

Point = dict[str, Any]
"""One place in the grid: factor path to level as written."""
VaryChoices = Literal["one-at-a-time", "together"]
ONE_AT_A_TIME: VaryChoices = "one-at-a-time"


@dataclass(frozen=True)
class Factor:
    """A path and its levels; `origin` is where they stand in the file."""

    path: str
    levels: tuple[Any, ...]
    origin: Path

    @property
    def parts(self) -> tuple[str, ...]:
        """The path's parts; `endpoints.client` is `client`."""
        parts = tuple(self.path.split("."))
        return parts[1:] if parts[0] == "endpoints" else parts

    @property
    def table(self) -> str:
        """The table that it stands in: `factors`, `choices` or `interpretations`."""
        return str(self.origin[0])

    @property
    def interpretation(self) -> str | None:
        """The interpretation that sets its only level; None of a factor or choice."""
        return str(self.origin[1]) if self.table == "interpretations" else None

    def workload_key(self, protocol: str | None = None) -> tuple[str, ...] | None:
        """Where it sets the workload, as a path inside the workload's table: for every protocol, or with
        `protocols.NAME.workload.KEY` for one. None if it does not, or not for the given protocol.
        """
        match self.parts:
            case ("workload", *key) if key:
                return tuple(key)
            case ("protocols", name, "workload", *key) if key and protocol in {None, name}:
                return tuple(key)
        return None


def grid(factors: Sequence[Factor], vary_choices: VaryChoices = ONE_AT_A_TIME) -> list[Point]:
    """Every combination of the factors' levels; then all of them again for each level of each choice alone, or for
    each combination of the choices' levels; then again for each interpretation.
    """
    base = list(_product(_levels(factors, "factors")))
    choices = _levels(factors, "choices")
    if vary_choices == ONE_AT_A_TIME:
        around: list[Point] = [{path: level} for path, levels in choices for level in levels]
    else:
        around = [
            {path: level for path, level in combination.items() if level is not _BASE}
            for combination in _product([(path, (_BASE, *levels)) for path, levels in choices])
        ]
    around += _interpretations(factors).values()
    distinct: dict[str, Point] = {}
    for levels in ({}, *around):
        for point in base:
            whole = {**point, **levels}
            distinct.setdefault(canonical_json(whole), whole)
    return list(distinct.values())


def grid_size(factors: Sequence[Factor], vary_choices: VaryChoices = ONE_AT_A_TIME) -> int:
    """How many points the grid has at most."""
    choices = [len(levels) for _, levels in _levels(factors, "choices")]
    around = 1 + sum(choices) if vary_choices == ONE_AT_A_TIME else prod(1 + levels for levels in choices)
    return prod(len(levels) for _, levels in _levels(factors, "factors")) * (around + len(_interpretations(factors)))


def meet(one: Factor, other: Factor, vary_choices: VaryChoices) -> bool:
    """Whether two factors are ever in one point."""
    tables = {one.table, other.table}
    if "factors" in tables or tables == {"choices"}:
        return "factors" in tables or vary_choices != ONE_AT_A_TIME
    return one.interpretation == other.interpretation


_BASE = object()
"""Stands for a choice's level in the base."""


def _levels(factors: Iterable[Factor], table: str) -> list[tuple[str, tuple[Any, ...]]]:
    return [(factor.path, factor.levels) for factor in factors if factor.table == table]


def _product(levels: Sequence[tuple[str, tuple[Any, ...]]]) -> Iterator[Point]:
    paths = [path for path, _ in levels]
    for combination in itertools.product(*(each for _, each in levels)):
        yield dict(zip(paths, combination, strict=True))


def _interpretations(factors: Iterable[Factor]) -> Mapping[str, Point]:
    found: dict[str, Point] = {}
    for factor in factors:
        if factor.interpretation is not None:
            [level] = factor.levels
            found.setdefault(factor.interpretation, {})[factor.path] = level
    return found
