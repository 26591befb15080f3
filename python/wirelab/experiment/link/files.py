"""Files that a link names: delivery traces, recorded losses, delays and replays, as text to numbers.

A file is named relative to the experiment's own and read when the experiment is checked; its content, not its name,
goes into the plan. Lines are counted from 1 in errors.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationInfo

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.opened import NO_FILE, nearest_file, open_file
from wirelab.schema import SchedulePoint
from wirelab.toml import read_text
from wirelab.units import UnitError, offset_ns

MAX_ENTRIES = 500_000
"""Delivery opportunities, delays or packets of one file."""
MAX_BYTES = 2**20
"""Of a file that is sent as it is."""
MAX_POINTS = 50_000
"""Points of one schedule."""
MOST_MS = 2**32 - 1
MOST = 2**63 - 1

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?")
_MILLISECONDS = re.compile(r"[0-9]{1,10}")
_SECONDS = {"ns": Fraction(1), "us": Fraction(10**3), "ms": Fraction(10**6), "s": Fraction(10**9)}
_DELAYS = {f"{what}_{unit}": scale for what in ("delay", "offset") for unit, scale in _SECONDS.items()}
_COLUMNS: dict[str, tuple[str, Fraction]] = {
    **{f"time_{unit}": ("at_ns", scale) for unit, scale in _SECONDS.items()},
    **{f"delay_{unit}": ("delay_ns", scale) for unit, scale in _SECONDS.items()},
    **{f"rate_{unit}": ("rate_bps", Fraction(10**power)) for unit, power in (("bps", 0), ("kbps", 3), ("Mbps", 6))},
    "loss": ("loss", Fraction(1)),
    "loss_percent": ("loss", Fraction(1, 100)),
}
_Parsed = TypeVar("_Parsed")


class Files:
    """Files next to an experiment, each read once."""

    def __init__(self, folder: Path = Path()) -> None:
        self._folder = folder
        self._parsed: dict[tuple[str, Callable[[str], Any]], Any] = {}

    @classmethod
    def of(cls, info: ValidationInfo) -> Files:
        """Those of the experiment that is being read; without one, those of the current folder."""
        return info.context if isinstance(info.context, cls) else cls()

    def read(self, name: object, parse: Callable[[str], _Parsed]) -> _Parsed:
        """A file's content; every error names the file."""
        if not isinstance(name, str) or not name.strip():
            raise UnitError("is not the name of a file", hint="files are sought next to the experiment file")
        key = (name, parse)
        if key not in self._parsed:
            text = self._text(name)
            try:
                self._parsed[key] = parse(text)
            except UnitError as error:
                raise UnitError(f"{name}:{error}", error.hint) from None
        parsed: _Parsed = self._parsed[key]
        return parsed

    def content(self, name: object) -> bytes:
        """A file's bytes, whatever they are; every error names the file."""
        if not isinstance(name, str) or not name.strip():
            raise UnitError("is not the name of a file", hint="files are sought next to the experiment file")
        try:
            with open_file(self._folder / name, Where(name)) as file:
                found: bytes = file.read(MAX_BYTES + 1)
        except WirelabError as error:
            raise UnitError(error.what, self._hint(name, error)) from None
        if len(found) > MAX_BYTES:
            raise UnitError(f"{name} has more than {MAX_BYTES // 2**20} MiB")
        return found

    def _text(self, name: str) -> str:
        path = self._folder / name
        try:
            return read_text(path, Where(name))
        except WirelabError as error:
            raise UnitError(error.what, self._hint(name, error)) from None

    def _hint(self, name: str, error: WirelabError) -> str | None:
        if error.what != NO_FILE:
            return error.hint
        near = nearest_file(self._folder / name)
        return "it is sought next to the experiment file" if near is None else f"did you mean '{near}'?"


def opportunities(text: str) -> tuple[int, ...]:
    """mahimahi's format: at each line's millisecond 1500 bytes can be delivered; several in one are several lines."""
    found: list[int] = []
    for line, word in _lines(text):
        if _MILLISECONDS.fullmatch(word) is None or int(word) > MOST_MS:
            hint = "mahimahi's traces have a whole number of milliseconds on each line"
            raise UnitError(f"{line}: is not a whole number of milliseconds ({_cut(word)})", hint)
        if found and int(word) < found[-1]:
            raise UnitError(f"{line}: {word} comes after {found[-1]}", hint="the instants must not go back")
        found.append(int(word))
    if not found or found[-1] == 0:
        raise UnitError("1: has no instant above 0", hint="the last one is the trace's length")
    return tuple(found)


def losses(text: str) -> str:
    """`0` for each packet that passes and `1` for each that is lost, in order; white space is skipped."""
    parts: list[str] = []
    for line, word in _lines(text):
        fates = "".join(word.split())
        if wrong := fates.strip("01"):
            raise UnitError(f"{line}: is neither 0 nor 1 ({_cut(wrong)})", hint="0 passes, 1 is lost")
        parts.append(fates)
    pattern = "".join(parts)
    if not pattern:
        raise UnitError("1: is empty", hint="write 0 for each packet that passes and 1 for each that is lost")
    if len(pattern) > MAX_ENTRIES:
        raise UnitError(f"1: has {len(pattern):,} packets", hint=f"at most {MAX_ENTRIES:,}")
    return pattern


def delays(text: str) -> tuple[int, ...]:
    """One delay on each line in ns, sorted: with its unit, or below a first line that says it, such as `delay_ms`."""
    found: list[int] = []
    scale: Fraction | None = None
    for line, word in _lines(text, MAX_ENTRIES + 1):
        if line == 1 and word in _DELAYS:
            scale = _DELAYS[word]
            continue
        try:
            found.append(offset_ns(word) if scale is None else _scaled(word, scale))
        except UnitError as error:
            hint = 'write "12.5 ms", or say the unit on the first line: delay_ms'
            raise UnitError(f"{line}: {error} ({_cut(word)})", hint) from None
    if len(found) < 2:
        raise UnitError("1: has fewer than two delays")
    return tuple(sorted(found))


def replay(text: str) -> tuple[SchedulePoint, ...]:
    """CSV with a header such as `time_s,delay_ms,rate_kbps,loss`; instants count from the first line's, and an empty
    cell means none (no delay, no limit, no loss).
    """
    rows = csv.reader(text.splitlines())
    try:
        header = [name.strip() for name in next(rows, [])]
        columns = _columns(header)
        points: list[SchedulePoint] = []
        start = 0
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            values = _row(rows.line_num, row, header, columns)
            start = values["at_ns"] if not points else start
            values["at_ns"] -= start
            if points and values["at_ns"] <= points[-1].at_ns:
                raise UnitError(
                    f"{rows.line_num}: is not later than the line before", hint="each line has a later time"
                )
            points.append(SchedulePoint(**values))
            if len(points) > MAX_POINTS:
                raise UnitError(f"{rows.line_num}: too many lines", hint=f"at most {MAX_POINTS:,}")
    except csv.Error as error:
        raise UnitError(f"{rows.line_num}: {error}") from None
    if not points:
        raise UnitError("1: has no line below its header")
    return tuple(points)


def _columns(header: list[str]) -> list[tuple[str, Fraction]]:
    hint = "the first line names the columns and their units, such as time_s,delay_ms,rate_kbps,loss"
    if len(header) == 1 and ";" in header[0]:
        raise UnitError("1: is separated by semicolons", hint="separate the cells by commas, with points in numbers")
    for name in header:
        if name not in _COLUMNS:
            raise UnitError(f"1: unknown column ({_cut(name)})", hint=did_you_mean(name, _COLUMNS) if name else hint)
    columns = [_COLUMNS[name] for name in header]
    meant = [key for key, _ in columns]
    if "at_ns" not in meant:
        raise UnitError("1: no column of times", hint)
    for key in meant:
        if meant.count(key) > 1:
            raise UnitError(f"1: two columns of one kind ({', '.join(header)})", hint)
    return columns


def _row(line: int, row: list[str], header: list[str], columns: list[tuple[str, Fraction]]) -> dict[str, Any]:
    if len(row) != len(header):
        raise UnitError(f"{line}: has {len(row)} cells, the header has {len(header)}")
    values: dict[str, Any] = {}
    for name, cell, (key, scale) in zip(header, row, columns, strict=True):
        word = cell.strip()
        if not word and key != "at_ns":
            continue
        try:
            if key == "loss":
                values[key] = _share(word, scale)
            else:
                values[key] = _scaled(word, scale)
                if values[key] < 0 and key != "at_ns":
                    raise UnitError("is negative")
        except UnitError as error:
            raise UnitError(f"{line}: {name} {error} ({_cut(word)})", error.hint) from None
    return values


def _share(word: str, scale: Fraction) -> float:
    share = _number(word) * scale
    if not 0 <= share <= 1:
        hint = "loss is a fraction from 0 to 1; name the column loss_percent for per cent"
        raise UnitError("is not a share", hint if scale == 1 else None)
    return float(share)


def _scaled(word: str, scale: Fraction) -> int:
    value = round(_number(word) * scale)
    if abs(value) > MOST:
        raise UnitError("is too much", hint=f"at most {float(MOST / scale):.3g}")
    return value


def _number(word: str) -> Fraction:
    if _NUMBER.fullmatch(word) is None:
        raise UnitError("is not a number")
    return Fraction(word)


def _lines(text: str, most: int = MAX_ENTRIES) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without the empty ones at the end."""
    lines = text.rstrip().splitlines()
    if len(lines) > most:
        raise UnitError(f"{len(lines)}: too many lines ({len(lines):,})", hint=f"at most {MAX_ENTRIES:,}")
    for number, line in enumerate(lines, 1):
        yield number, line.strip()


def _cut(word: str) -> str:
    return f'"{word}"' if len(word) <= 40 else f'"{word[:37]}..."'
