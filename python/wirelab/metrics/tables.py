"""The tables that `wirelab measure` wrote."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from wirelab.errors import RunError, Where
from wirelab.launcher import launched

if TYPE_CHECKING:
    import polars as pl


def read_table(path: Path, campaign: Path | None = None) -> pl.DataFrame:
    """A table of `campaign`, by default of the folder that it is in. Raises `RunError` if the file is torn."""
    import polars as pl

    try:
        return pl.read_parquet(path)
    except pl.exceptions.PolarsError:
        _torn(path, campaign or path.parent)


def require_whole(*tables: Path) -> None:
    """Raise `RunError` if one of these is there and ends too soon: what it holds is described at its end."""
    import polars as pl

    for path in tables:
        try:
            if path.exists():
                pl.read_parquet_schema(path)
        except pl.exceptions.PolarsError:
            _torn(path, path.parent)


def _torn(path: Path, campaign: Path) -> NoReturn:
    hint = launched(f"measure {shlex.quote(str(campaign))}")
    raise RunError("is torn, or no table", Where(str(path)), hint) from None
