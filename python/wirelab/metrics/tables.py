"""The tables that `wirelab measure` wrote."""

from __future__ import annotations

import hashlib
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
"""Key and value in a Parquet file's metadata."""

DIGEST, DIGITS = "wirelab_digest", 64
"""Key in a Parquet file's metadata. Its value is `sha256:` and the SHA-256 of the file with zeros in its place."""

_BEGINS = b"sha256:"

PARQUET = b"PAR1"
"""The first and the last bytes of a Parquet file."""


def read_table(
    path: Path, campaign: Path | None = None, *, types: Mapping[str, PolarsDataType] | None = None
) -> pl.DataFrame:
    """A table of `campaign`, by default of the folder that it is in.

    Raises `WirelabError` if the file is not as it was written, is of another version, lacks a column of `types`, or has
    another type in one.
    """
    import polars as pl

    folder = campaign or path.parent
    _require_as_written(path, folder)
    try:
        version = pl.read_parquet_metadata(path).get(VERSION)
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
    """Write a table with its version and its digest. Raises `RunError` if the system refuses it."""
    import polars as pl

    metadata = {VERSION: TABLES_VERSION, DIGEST: _BEGINS.decode() + "0" * DIGITS}
    try:
        with replaced(path) as fresh:
            table.write_parquet(fresh, compression="zstd", metadata=metadata)
            content = fresh.read_bytes()
            at = _digest_at(content)
            assert at is not None
            with fresh.open("r+b") as file:
                file.seek(at)
                file.write(_digest_of(content, at))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise RunError(f"cannot be written: {error}", Where(str(path))) from None


def require_whole(*tables: Path) -> None:
    """Raise `WirelabError` if one of these is there and is not as it was written."""
    for path in tables:
        if path.exists():
            _require_as_written(path, path.parent)


def _require_as_written(path: Path, campaign: Path) -> None:
    """By its digest: the library that reads tables may end the process over a damaged one."""
    try:
        if not path.is_file():
            _torn(path, campaign)
        content = path.read_bytes()
    except OSError:
        _torn(path, campaign)
    at = _digest_at(content)
    if at is not None and content[at : at + DIGITS] == _digest_of(content, at):
        return
    if content[:4] != PARQUET or content[-4:] != PARQUET:
        _torn(path, campaign)
    why = "it has no digest" if at is None else "its digest is of other content"
    raise damaged(path, why, _again(campaign))


def _digest_at(content: bytes) -> int | None:
    """Where its digits are, or None: metadata are behind all that a table holds."""
    key = content.rfind(DIGEST.encode())
    value = content.find(_BEGINS, key) if key >= 0 else -1
    return value + len(_BEGINS) if value >= 0 else None


def _digest_of(content: bytes, at: int) -> bytes:
    digest = hashlib.sha256()
    with memoryview(content) as view:
        digest.update(view[:at])
        digest.update(b"0" * DIGITS)
        digest.update(view[at + DIGITS :])
    return digest.hexdigest().encode()


def _torn(path: Path, campaign: Path) -> NoReturn:
    raise WirelabError("is torn, or no table", Where(str(path)), _again(campaign)) from None


def _again(campaign: Path) -> str:
    return launched(f"measure {shlex.quote(str(campaign))}")
