"""What each scenario is, as columns: the protocol, and the level of each factor and choice by its path."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wirelab.schema.plan import Level, Scenario

PROTOCOL = "protocol"


def level_columns(scenarios: Sequence[Scenario]) -> list[str]:
    """The protocol, and the paths of factors and choices, in the order in which scenarios have them."""
    return list(dict.fromkeys([PROTOCOL, *(path for each in scenarios for path in each.levels)]))


def levels_of(scenarios: Sequence[Scenario]) -> pl.DataFrame:
    """A row for each scenario, with its key as `scenario`. A level is null where a scenario does not have it. Numbers
    stay numbers if all levels of a path are; a quantity is text, as it was written.
    """
    found = [pl.Series("scenario", [each.key for each in scenarios], pl.String)]
    for path in level_columns(scenarios):
        levels = [each.protocol if path == PROTOCOL else each.levels.get(path) for each in scenarios]
        found.append(_column(path, levels))
    return pl.DataFrame(found)


def with_levels(table: pl.DataFrame, scenarios: Sequence[Scenario]) -> pl.DataFrame:
    """A table with a column `scenario`, and behind it those of its scenario."""
    table = table.drop(level_columns(scenarios), strict=False)
    known = levels_of(scenarios)
    at = table.columns.index("scenario") + 1
    joined = table.join(known, on="scenario", how="left", maintain_order="left")
    return joined.select([*table.columns[:at], *known.columns[1:], *table.columns[at:]])


def _column(path: str, levels: Sequence[Level | None]) -> pl.Series:
    kinds = {type(each) for each in levels if each is not None}
    if kinds == {bool}:
        return pl.Series(path, levels, pl.Boolean)
    if kinds and kinds <= {int, float}:
        return pl.Series(path, levels, pl.Int64 if kinds == {int} else pl.Float64)
    return pl.Series(path, [None if each is None else str(each) for each in levels], pl.String)
