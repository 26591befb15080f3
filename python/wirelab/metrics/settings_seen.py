"""What connections announced of their settings and what the other end made of it (`schema/settings-seen.json`).

A captured trial is read from its captures and secrets; of another, an end of ours tells by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from wirelab import agent
from wirelab.schema.campaign import TRIALS

SETTINGS_SEEN = "settings.parquet"
ENDS = ("client", "server")
CAPTURE = "capture"
COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "trial": pl.String, "scenario": pl.String, "end": pl.String, "setting": pl.String,
    **dict.fromkeys(("announced_low", "announced_high", "effective_low", "effective_high", "used"), pl.UInt64),
    "source": pl.String, "connections": pl.Int64,
}  # fmt: skip
_OWN_FILE = "settings-seen.json"
_AT_ONCE = 100


def measure_settings(campaign: Path, plan: Mapping[str, Any], trials: pl.DataFrame) -> pl.DataFrame | None:
    """Write what was seen of each trial that is done, a row for each setting of each end; none where nothing was. A
    trial of which nothing tells but a capture of connections whose handshakes did not end has a row without a setting.
    """
    captured = {each["key"] for each in plan["scenarios"] if each.get("capture")}
    done = trials.filter((pl.col("status") == "done") & ~pl.col("excluded"))
    whole = done.filter(pl.col("left_out_of_captures").fill_null(0) == 0)
    of_captures = [str(campaign / TRIALS / t) for t, key in whole["trial", "scenario"].iter_rows() if key in captured]
    told = {Path(found["trial"]).name: found for found in _ask(of_captures)}
    rows: list[dict[str, Any]] = []
    for trial, key in done["trial", "scenario"].iter_rows():
        capture = told.get(trial)
        sources = list(_sources(campaign / TRIALS / trial, capture))
        if not sources and capture is not None and capture["unfinished"] and not capture["sealed"]:
            rows.append({"trial": trial, "scenario": key, "source": CAPTURE, "connections": 0})
        for end, source, found in sources:
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
    table.write_parquet(campaign / SETTINGS_SEEN, compression="zstd")
    return table


def _ask(folders: list[str]) -> Iterator[dict[str, Any]]:
    for first in range(0, len(folders), _AT_ONCE):
        lines = agent.ask(agent.find_agent(), ["settings-seen", *folders[first : first + _AT_ONCE]])
        yield from map(json.loads, lines.splitlines())


def _sources(folder: Path, capture: dict[str, Any] | None) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """For each end who tells of it: the capture if it could be opened, else the end itself, else the other end."""
    own = {end: found for end in ENDS if (found := _read(folder / end / _OWN_FILE)) is not None}
    for end, other in zip(ENDS, reversed(ENDS), strict=True):
        if capture is not None and capture["connections"]:
            yield end, CAPTURE, capture
        elif (source := next((each for each in (end, other) if each in own), None)) is not None:
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
