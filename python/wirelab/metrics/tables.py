"""The tables that `wirelab measure` wrote."""

from __future__ import annotations

import hashlib
import mmap
import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from wirelab.errors import RunError, Where, WirelabError
from wirelab.launcher import launched
from wirelab.schema.document import damaged
from wirelab.schema.replaced import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import polars as pl
    from polars._typing import PolarsDataType


VERSION, TABLES_VERSION = "wirelab_schema_version", "1"
"""Key and value in a Parquet file's metadata."""

DIGEST, DIGITS = "wirelab_digest", 64
"""Key in a Parquet file's metadata. Its value is `sha256:` and the SHA-256 of the file with zeros in its place."""

_BEGINS = b"sha256:"

PARQUET = b"PAR1"
"""The first and the last bytes of a Parquet file."""

HELD_ROWS = 2_000_000
"""Of a larger table, only what is asked for is read."""


def read_table(
    path: Path, campaign: Path | None = None, *, types: Mapping[str, PolarsDataType] | None = None
) -> pl.DataFrame:
    """A table of `campaign`, by default of the folder that it is in.

    Raises `WirelabError` if the file is not as it was written, is of another version, lacks a column of `types`, or has
    another type in one.
    """
    import polars as pl

    folder = campaign or path.parent
    scanned = _scanned(path, folder, types or {})
    try:
        return scanned.collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        _torn(path, folder)


def scan_table(path: Path, *, types: Mapping[str, PolarsDataType]) -> pl.LazyFrame:
    """The same table, held in memory unless it has more than `HELD_ROWS` rows."""
    import polars as pl

    scanned = _scanned(path, path.parent, types)
    try:
        return scanned if scanned.select(pl.len()).collect().item() > HELD_ROWS else scanned.collect().lazy()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        _torn(path, path.parent)


def _scanned(path: Path, campaign: Path, types: Mapping[str, PolarsDataType]) -> pl.LazyFrame:
    import polars as pl

    _require_as_written(path, campaign)
    try:
        version = pl.read_parquet_metadata(path).get(VERSION)
        scanned = pl.scan_parquet(path)
        schema = scanned.collect_schema()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        _torn(path, campaign)
    if version != TABLES_VERSION:
        raise damaged(path, f"its schema_version is {version}, this build's is {TABLES_VERSION}", _again(campaign))
    for name, kind in types.items():
        found = schema.get(name)
        if found not in (kind, pl.Null):
            why = f"it has no column {name}" if found is None else f"its column {name} is {found}, not {kind}"
            raise damaged(path, why, _again(campaign))
    return scanned


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table with its version and its digest. Raises `RunError` if the system refuses it."""
    with parts_written([table], path):
        pass


@contextmanager
def parts_written(parts: Iterable[pl.DataFrame], path: Path) -> Iterator[None]:
    """The same of a table's parts, at least one, which have the same columns; each is made when the one before is
    written. What making a part raises is raised. No row group has rows of two parts. The table takes its place when
    this ends: until then the earlier one is there.
    """
    metadata = {VERSION: TABLES_VERSION, DIGEST: _BEGINS.decode() + "0" * DIGITS}
    with replaced(path) as fresh:
        sink(parts, path, lambda frame: frame.sink_parquet(fresh, compression="zstd", metadata=metadata))
        with fresh.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
            at = _digest_at(content)
            assert at is not None
            content[at : at + DIGITS] = _digest_of(content, at)
        yield


def sink(parts: Iterable[pl.DataFrame], path: Path, write: Callable[[pl.LazyFrame], object]) -> None:
    """Give `write` a frame of these parts. Raises `RunError`, which names `path`, if the system refuses it."""
    import polars as pl
    from polars.io.plugins import register_io_source

    rest, faults = iter(parts), list[BaseException]()
    first = next(rest)

    def source(*_: object) -> Iterator[pl.DataFrame]:
        yield first
        try:
            yield from rest
        except GeneratorExit:
            raise
        except BaseException as fault:
            # The library makes another error of it.
            faults.append(fault)
            raise

    try:
        write(register_io_source(source, schema=first.schema))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        if faults:
            raise faults[0] from None
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
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            at = _digest_at(content)
            if at is not None and content[at : at + DIGITS] == _digest_of(content, at):
                return
            if content[:4] != PARQUET or content[-4:] != PARQUET:
                _torn(path, campaign)
    except (OSError, ValueError):
        # An empty file cannot be mapped.
        _torn(path, campaign)
    why = "it has no digest" if at is None else "its digest is of other content"
    raise damaged(path, why, _again(campaign))


def _digest_at(content: mmap.mmap) -> int | None:
    """Where its digits are, or None: metadata are behind all that a table holds."""
    key = content.rfind(DIGEST.encode())
    value = content.find(_BEGINS, key) if key >= 0 else -1
    return value + len(_BEGINS) if value >= 0 else None


def _digest_of(content: mmap.mmap, at: int) -> bytes:
    digest = hashlib.sha256()
    with memoryview(content) as whole, whole[:at] as before, whole[at + DIGITS :] as behind:
        digest.update(before)
        digest.update(b"0" * DIGITS)
        digest.update(behind)
    return digest.hexdigest().encode()


def _torn(path: Path, campaign: Path) -> NoReturn:
    raise WirelabError("is torn, or no table", Where(str(path)), _again(campaign)) from None


def _again(campaign: Path) -> str:
    return launched(f"measure {shlex.quote(str(campaign))}")
