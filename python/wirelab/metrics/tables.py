"""The tables that `wirelab measure` wrote."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from wirelab.errors import RunError, Where, WirelabError
from wirelab.launcher import launched
from wirelab.schema.document import damaged
from wirelab.schema.replaced import replaced

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from polars._typing import PolarsDataType


VERSION, TABLES_VERSION = "wirelab_schema_version", "1"
"""Key and value in a Parquet file's metadata; a table of other tools has none."""


def read_table(
    path: Path, campaign: Path | None = None, *, types: Mapping[str, PolarsDataType] | None = None
) -> pl.DataFrame:
    """A table of `campaign`, by default of the folder that it is in.

    Raises `WirelabError` if the file is torn, is of another version, lacks a column of `types`, or has another type in
    one.
    """
    import polars as pl

    folder = campaign or path.parent
    try:
        if not path.is_file():
            _torn(path, folder)
        version = pl.read_parquet_metadata(path).get(VERSION, TABLES_VERSION)
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        _torn(path, folder)
    if version != TABLES_VERSION:
        raise damaged(path, f"its schema_version is {version}, this build's is {TABLES_VERSION}", _again(folder))
    for name, kind in (types or {}).items():
        found = table.schema.get(name)
        if found not in (kind, pl.Null):
            why = f"it has no column {name}" if found is None else f"its column {name} is {found}, not {kind}"
            raise damaged(path, why, _again(folder))
    return table


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table with its version. Raises `RunError` if the system refuses it."""
    import polars as pl

    try:
        with replaced(path) as fresh:
            table.write_parquet(fresh, compression="zstd", metadata={VERSION: TABLES_VERSION})
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise RunError(f"cannot be written: {error}", Where(str(path))) from None


def require_whole(*tables: Path) -> None:
    """Raise `WirelabError` if one of these is there and ends too soon: what it holds is described at its end."""
    import polars as pl

    for path in tables:
        try:
            if path.exists():
                pl.read_parquet_schema(path)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            _torn(path, path.parent)


def _torn(path: Path, campaign: Path) -> NoReturn:
    raise WirelabError("is torn, or no table", Where(str(path)), _again(campaign)) from None


def _again(campaign: Path) -> str:
    return launched(f"measure {shlex.quote(str(campaign))}")
