"""The settings that connections announced, and their use by the other end (`schema/settings-seen.json`).

The endpoints of Wirelab write it. Of a connection between two programs of others nothing is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from wirelab.metrics.tables import write_table
from wirelab.schema.campaign import TRIALS

SETTINGS_SEEN = "settings.parquet"
ENDS = ("client", "server")
COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "trial": pl.String, "scenario": pl.String, "end": pl.String, "setting": pl.String,
    **dict.fromkeys(("announced_low", "announced_high", "effective_low", "effective_high", "used"), pl.UInt64),
    "source": pl.String, "connections": pl.Int64,
}  # fmt: skip
_OWN_FILE = "settings-seen.json"


def measure_settings(campaign: Path, trials: pl.DataFrame) -> pl.DataFrame | None:
    """Write what was seen of each trial that is done, a row for each setting of each end; none where nothing was."""
    done = trials.filter((pl.col("status") == "done") & ~pl.col("excluded"))
    rows: list[dict[str, Any]] = []
    for trial, key in done["trial", "scenario"].iter_rows():
        for end, source, found in _sources(campaign / TRIALS / trial):
            rows += [
                {"trial": trial, "scenario": key, "end": end, "setting": setting, "source": source}
                | {"connections": found["connections"], "used": seen["used"]}
                | _range("announced", seen["announced"])
                | _range("effective", seen["effective"])
                for setting, seen in found[end].items()
            ]
    if not rows:
        (campaign / SETTINGS_SEEN).unlink(missing_ok=True)
        return None
    table = pl.DataFrame(rows, schema=COLUMNS)
    write_table(table, campaign / SETTINGS_SEEN)
    return table


def _sources(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """For each end its source: the end itself if it is one of Wirelab's, else the other end if that is."""
    own = {end: found for end in ENDS if (found := _read(folder / end / _OWN_FILE)) is not None}
    for end, other in zip(ENDS, reversed(ENDS), strict=True):
        if (source := next((each for each in (end, other) if each in own), None)) is not None:
            yield end, source, own[source]


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return found


def _range(name: str, bounds: list[int] | None) -> dict[str, int | None]:
    low, high = bounds if bounds is not None else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}
