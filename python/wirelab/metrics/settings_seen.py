"""The settings that connections announced, and their use by the other end (`schema/settings-seen.json`).

The endpoints of Wirelab write it. Of a connection between two programs of others nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from wirelab.metrics.steps import run_again
from wirelab.metrics.tables import write_table
from wirelab.schema.base import Received
from wirelab.schema.campaign import TRIALS
from wirelab.schema.document import read_document

SETTINGS_SEEN = "settings.parquet"
ENDS = ("client", "server")
COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "trial": pl.String, "scenario": pl.String, "end": pl.String, "setting": pl.String,
    **dict.fromkeys(("announced_low", "announced_high", "effective_low", "effective_high", "used"), pl.UInt64),
    "source": pl.String, "connections": pl.Int64,
}  # fmt: skip
_OWN_FILE = "settings-seen.json"
_U64 = Annotated[int, Field(ge=0, lt=2**64)]
_Bounds = tuple[_U64, _U64] | None


class _SettingSeen(Received):
    """One setting of one end, over all connections."""

    announced: _Bounds = None
    effective: _Bounds = None
    used: _U64 | None = None


class _SettingsSeen(Received):
    """What an end read of its connections."""

    connections: Annotated[int, Field(ge=0, lt=2**63)]
    client: Mapping[str, _SettingSeen]
    server: Mapping[str, _SettingSeen]

    def of(self, end: str) -> Mapping[str, _SettingSeen]:
        """What an end announced."""
        return self.client if end == "client" else self.server


def measure_settings(campaign: Path, trials: pl.DataFrame) -> pl.DataFrame | None:
    """Write what was seen of each trial that is done, a row for each setting of each end; none where nothing was."""
    done = trials.filter((pl.col("status") == "done") & ~pl.col("excluded"))
    rows: list[dict[str, Any]] = []
    for trial, key in done["trial", "scenario"].iter_rows():
        for end, source, found in _sources(campaign / TRIALS / trial):
            rows += [
                {"trial": trial, "scenario": key, "end": end, "setting": setting, "source": source}
                | {"connections": found.connections, "used": seen.used}
                | _range("announced", seen.announced)
                | _range("effective", seen.effective)
                for setting, seen in found.of(end).items()
            ]
    if not rows:
        (campaign / SETTINGS_SEEN).unlink(missing_ok=True)
        return None
    table = pl.DataFrame(rows, schema=COLUMNS)
    write_table(table, campaign / SETTINGS_SEEN)
    return table


def _sources(folder: Path) -> Iterator[tuple[str, str, _SettingsSeen]]:
    """For each end its source: the end itself if it is one of Wirelab's, else the other end if that is."""
    own = {end: found for end in ENDS if (found := _read(folder / end / _OWN_FILE)) is not None}
    for end, other in zip(ENDS, reversed(ENDS), strict=True):
        if (source := next((each for each in (end, other) if each in own), None)) is not None:
            yield end, source, own[source]


def _read(path: Path) -> _SettingsSeen | None:
    if not path.exists():
        return None
    return read_document(path, _SettingsSeen, None, run_again(path.parents[3]))


def _range(name: str, bounds: _Bounds) -> dict[str, int | None]:
    low, high = bounds if bounds is not None else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}
