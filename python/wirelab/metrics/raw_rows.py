"""The rows that an endpoint wrote, `exchanges` or `resources`, with every column of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from wirelab.errors import Where, WirelabError
from wirelab.metrics.steps import run_again

Types = Mapping[str, type[pl.DataType]]


def read_rows(output: Path, stem: str, types: Types) -> pl.DataFrame:
    """The rows in the folder of an endpoint of a trial, null where its file has no such column; none without a file.

    Raises `WirelabError` if the file is torn, or holds what no column can.
    """
    arrow, lines = output / f"{stem}.arrow", output / f"{stem}.jsonl"
    path = arrow if arrow.exists() else lines
    try:
        if path == arrow:
            read = pl.read_ipc(arrow)
        elif lines.exists() and lines.stat().st_size:
            read = pl.read_ndjson(lines, schema=dict(types))
        else:
            read = pl.DataFrame(schema=types)
        absent = [pl.lit(None).alias(name) for name in types if name not in read.columns]
        return read.with_columns(absent).select(pl.col(name).cast(kind) for name, kind in types.items())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise WirelabError("is torn, or no table", Where(str(path)), run_again(output.parents[2])) from None
