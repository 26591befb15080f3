"""Traces of power meters as they export them.

CSV with a header that names the units, as Nordic's Power Profiler (`Timestamp(ms),Current(uA)`), Qoitech's Otii
(`"Wall-clock time (UTC)","Arc Main Current (A)","Arc Main Voltage (V)"`) and people write it; and the text of OML, as
FIT IoT-LAB keeps it (`schema: 1 control_node_measures_consumption timestamp_s:uint32 …`).
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.opened import open_file
from wirelab_energy.trace.columns import OML, Columns, counts_from_1970, csv_columns, oml_columns
from wirelab_energy.trace.trace import Floats, Trace

if TYPE_CHECKING:
    import polars as pl


_MOST_W = 1e9
"""More than any device draws; what is above it makes sums overflow."""


def read_trace(path: Path, voltage_v: float | None = None) -> Trace:
    """A meter's trace. `voltage_v` makes power of a current where the file has no voltage.

    Raises `WirelabError`: no trace, a row that is none, time that goes back, no voltage, a voltage for a power.
    """
    where = Where(str(path))
    try:
        with io.TextIOWrapper(open_file(path, where, None), encoding="utf-8-sig", errors="replace") as file:
            first = file.readline()
            if not first:
                raise WirelabError("is empty", where)
            is_oml = first.startswith("protocol:")
            columns = oml_columns(file, where) if is_oml else csv_columns(first, where)
    except OSError as error:
        raise WirelabError(f"cannot be read: {error.strerror}", where) from None
    table, lines = _table(path, columns, where)
    times = columns.times(table, where)
    if len(times) < 2:
        raise WirelabError(f"has {len(times)} samples", where, "a trace has two or more")
    _assert_in_order(times, lines, where)
    since_1970 = columns.since_1970 or counts_from_1970(times)
    watts = _watts(table, columns, voltage_v, where)
    if (largest := float(np.abs(watts).max())) > _MOST_W:
        raise WirelabError(f"has a power of {largest:g} W", where, "are its units those of its header?")
    return Trace(columns.kind, times, watts, since_1970)


def _table(path: Path, columns: Columns, where: Where) -> tuple[dict[str, Floats | list[str]], NDArray[np.int64]]:
    """Each column that is wanted, numbers as such; and the line of each row."""
    import polars as pl

    frame = _oml(path, columns, where) if columns.kind == OML else _csv(path, columns, where)
    read: dict[str, Floats | list[str]] = {}
    for name, (place, factor) in columns.wanted.items():
        texts = frame[_named(place)].str.strip_chars()
        if factor is None:
            read[name] = texts.fill_null("").to_list()
            continue
        numbers = texts.cast(pl.Float64, strict=False)
        bad = numbers.is_null() | numbers.is_nan() | numbers.is_infinite()
        if bad.any():
            row = int(bad.arg_true()[0])
            said = texts[row]
            place_of = Where(where.source, int(frame["line"][row]), key=name)
            raise WirelabError(f"is not a number ('{said}')" if said else "is missing", place_of)
        read[name] = np.asarray(numbers.to_numpy(), dtype=np.float64) * factor
    return read, np.asarray(frame["line"].to_numpy(), dtype=np.int64)


def _csv(path: Path, columns: Columns, where: Where) -> pl.DataFrame:
    import polars as pl

    names = [_named(place) for place in range(columns.width)]
    try:
        frame = pl.read_csv(
            path, separator=columns.separator, has_header=False, skip_lines=columns.lines_before,
            schema=dict.fromkeys(names, pl.String), truncate_ragged_lines=True, encoding="utf8-lossy",
        )  # fmt: skip
    except pl.exceptions.PolarsError as error:
        raise WirelabError(f"is not a table: {str(error).splitlines()[0]}", where) from None
    return frame.with_row_index("line", columns.lines_before + 1)


def _oml(path: Path, columns: Columns, where: Where) -> pl.DataFrame:
    """Rows of metadata are between those of the measurement: each names its schema in its second field."""
    import polars as pl

    found: dict[str, list[int | str | None]] = {"line": [], **{_named(place): [] for place in range(columns.width)}}
    with io.TextIOWrapper(open_file(path, where, None), encoding="utf-8", errors="replace") as file:
        for line, text in enumerate(file, 1):
            cells = text.split(columns.separator)
            if line <= columns.lines_before or cells[1:2] != [columns.schema]:
                continue
            found["line"].append(line)
            for place in range(columns.width):
                found[_named(place)].append(cells[place] if place < len(cells) else None)
    types = {name: pl.Int64 if name == "line" else pl.String for name in found}
    return pl.DataFrame(found, schema=types)


def _named(place: int) -> str:
    return f"column_{place}"


def _assert_in_order(times: Floats, lines: NDArray[np.int64], where: Where) -> None:
    steps = np.diff(times)
    if len(back := np.flatnonzero(steps < 0)):
        row = int(back[0])
        what = f"time goes back from {_seconds(times[row])} s to {_seconds(times[row + 1])} s"
        hint = "two recordings in one file? Give one at a time"
        raise WirelabError(what, Where(where.source, int(lines[row + 1])), hint)
    if times[-1] == times[0]:
        raise WirelabError(f"all {len(times)} samples are of one instant", where)


def _watts(table: dict[str, Floats | list[str]], columns: Columns, voltage_v: float | None, where: Where) -> Floats:
    if "power" in columns.wanted:
        if voltage_v is not None:
            raise WirelabError("--voltage is of a current, and this is a trace of power", where, "leave it out")
        return np.asarray(table["power"], dtype=np.float64)
    current = np.asarray(table["current"], dtype=np.float64)
    if "voltage" in columns.wanted and voltage_v is None:
        with np.errstate(over="ignore"):
            return current * np.asarray(table["voltage"], dtype=np.float64)
    if voltage_v is None:
        raise WirelabError("has a current and no voltage", where, "--voltage '3.0 V' says at which it was measured")
    with np.errstate(over="ignore"):
        return current * voltage_v


def _seconds(value: float) -> str:
    """To the microsecond, as short as it goes."""
    return f"{value:.6f}".rstrip("0").rstrip(".")
