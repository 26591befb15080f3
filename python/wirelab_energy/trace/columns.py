"""Which columns of a meter's file are time, power, current and voltage, and in which units."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.trace.trace import Floats

OML = "OML"
CSV = "CSV"
_SECONDS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PREFIXES = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9}
_QUANTITIES = {"power": "W", "current": "A", "voltage": "V"}
_HINT = (
    "a header names columns and units, such as 'time (s),power (mW)' or 'time (ms),current (uA)'; "
    "exports of Power Profiler, Otii and IoT-LAB are read as they are"
)
_SINCE_1970_S = 1e9
"""Seconds that are more than this count from 1970 (they are after 2001); no recording lasts as long."""


@dataclass(frozen=True)
class Columns:
    """`wanted` gives `time`, `time_us`, `power`, `current`, `voltage` their places, and factors to s, W, A and V; none
    of wall-clock time as words. Of OML the rows of one `schema` alone count.
    """

    kind: str
    wanted: dict[str, tuple[int, float | None]]
    separator: str
    width: int
    lines_before: int
    schema: str = ""
    since_1970: bool = False

    def times(self, table: dict[str, Floats | list[str]], where: Where) -> Floats:
        """Of all rows, in seconds."""
        written = table["time"]
        if isinstance(written, list):
            return np.array([_instant(text, where) for text in written], dtype=np.float64)
        return written + table["time_us"] if "time_us" in table else written  # type: ignore[operator]


def csv_columns(header: str, where: Where) -> Columns:
    """Those of a CSV file by its header."""
    separator = max((",", ";", "\t"), key=header.count)
    names = next(csv.reader([header.strip()], delimiter=separator), [])
    wanted: dict[str, tuple[int, float | None]] = {}
    since_1970 = False
    for place, cell in enumerate(names):
        name, unit = _name_and_unit(cell.strip())
        what = next((word for word in ("time", *_QUANTITIES) if word in name.lower()), None)
        if what is None or what in wanted:
            continue
        if what == "time" and unit.upper() == "UTC":
            wanted[what], since_1970 = (place, None), True
        else:
            wanted[what] = place, _factor(what, unit, cell, where)
    if "time" not in wanted or not {"power", "current"} & wanted.keys():
        raise WirelabError(f"is not a trace of power: its first line is '{header.strip()[:60]}'", where, _HINT)
    return Columns(CSV, wanted, separator, len(names), 1, since_1970=since_1970)


def _name_and_unit(cell: str) -> tuple[str, str]:
    """`time (s)` and `time [s]` as `time` and `s`. Not by a regular expression: a header may be long."""
    opened = max(cell.rfind("("), cell.rfind("["))
    unit = cell[opened + 1 : -1]
    if opened < 0 or cell[-1] not in ")]" or not {")", "]"}.isdisjoint(unit):
        return cell, ""
    return cell[:opened].strip(), unit.strip()


def oml_columns(lines: Iterable[str], where: Where) -> Columns:
    """Those of OML's text by its schemas, which come before an empty line; `lines` begin behind the first.

    https://mytestbed.github.io/oml (text protocol 4); FIT IoT-LAB's consumption monitoring.
    """
    schemas: list[list[str]] = []
    read = 1
    for line in lines:
        read += 1
        if not line.strip():
            break
        if line.startswith("schema:"):
            schemas.append(line.split()[1:])
    for schema, _, *fields in (each for each in schemas if len(each) > 2):
        # A row begins with the time of the server, the schema's number and the row's own.
        places = {field.partition(":")[0]: place for place, field in enumerate(fields, 3)}
        if "timestamp_s" in places and {"power", "current"} & places.keys():
            factors = {"time": ("timestamp_s", 1.0), "time_us": ("timestamp_us", 1e-6)}
            factors |= {name: (name, 1.0) for name in _QUANTITIES}
            wanted: dict[str, tuple[int, float | None]] = {
                name: (places[field], factor) for name, (field, factor) in factors.items() if field in places
            }
            return Columns(OML, wanted, "\t", 3 + len(fields), read, schema=schema, since_1970=True)
    raise WirelabError("has no schema with timestamp_s and power or current", where, "is it of the consumption folder?")


def _factor(what: str, unit: str, cell: str, where: Where) -> float:
    if what == "time":
        if unit.lower() in _SECONDS:
            return _SECONDS[unit.lower()]
        known = ", ".join(_SECONDS)
    else:
        base = _QUANTITIES[what]
        if unit.endswith(base) and unit[: -len(base)] in _PREFIXES:
            return _PREFIXES[unit[: -len(base)]]
        known = ", ".join(f"{prefix}{base}" for prefix in _PREFIXES)
    said = f"has unknown unit '{unit}'" if unit else "has no unit"
    raise WirelabError(
        f"column '{cell.strip()}' {said}", where, f"known: {known}; write '{what} ({known.split(',')[0]})'"
    )


def _instant(text: str, where: Where) -> float:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise WirelabError(f"'{text}' is not a time", where, "such as 2026-03-01T12:00:00.250") from None
    return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).timestamp()


def counts_from_1970(times: Floats) -> bool:
    """Whether seconds are those of the clock."""
    return bool(len(times) and times[0] > _SINCE_1970_S)
