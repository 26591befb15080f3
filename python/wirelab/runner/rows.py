"""Rows that a client not ours has written, held against the contract (`docs/contract.md`) before they count."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from wirelab.schema import EXTENDED, Exchange, Outcome, WorkloadSpec, workloads_with
from wirelab.schema.base import Border

EXCHANGES, RESOURCES = "exchanges", "resources"
"""Stems of the files: `.arrow`, or `.jsonl`."""
_EXCHANGE = ("index", "outcome")
_RESOURCE = ("exchange", "path", "found_by", "discovered_ns", "end_ns", "outcome")
_STAMPED = ("start_ns", "end_ns")
_STAMPED_OUTCOMES = (Outcome.COMPLETED, Outcome.SENT)
_Row = TypeVar("_Row", bound=Border)


class WrongRowError(Exception):
    """A row that cannot be read."""


def wrong_rows(
    output: Path, workload: WorkloadSpec, start_ns: int, end_ns: int, unanswered: str | None = None
) -> str | None:
    """What is wrong with a client's rows, in one line; none if they can be read, are as many as the workload has
    exchanges, each of another, and lie within the trial. `unanswered` is the setting with which nothing answers.
    """
    try:
        rows = list(read_rows(output, EXCHANGES, EXTENDED[workload.kind]))
    except WrongRowError as error:
        return str(error)
    if len(rows) != workload.rows:
        counted = f"{len(rows)} rows" if rows else "no rows"
        file = f"{output.name}/{EXCHANGES}.jsonl"
        return f"the client wrote {counted} in {file}, and the workload has {workload.rows} exchanges"
    first: dict[tuple[int, int], str] = {}
    for place, row in rows:
        if (other := first.setdefault((row.client, row.index), place)) is not place:
            return f"{place}: client {row.client}, index {row.index} is a duplicate of {other}"
        if (why := _wrong_end(row, start_ns, end_ns, unanswered)) is not None:
            return f"{place}: {why}"
    return None


def _wrong_end(row: Exchange, start_ns: int, end_ns: int, unanswered: str | None) -> str | None:
    """What is wrong with how and when an exchange ended."""
    if row.end_ns < row.start_ns:
        return f"end_ns is {row.start_ns - row.end_ns} ns before start_ns"
    if row.outcome is Outcome.COMPLETED and unanswered is not None:
        return f"outcome is completed, and with {unanswered} nothing answers: it is sent"
    # The publication time of a lost message may be unknown.
    if row.outcome in _STAMPED_OUTCOMES and (row.start_ns < start_ns or row.end_ns > end_ns):
        return "start_ns and end_ns are not within the trial; instants are of CLOCK_MONOTONIC"
    # Delays count from it, and a client that leaves it out is taken by its start.
    if "intended_start_ns" in row.model_fields_set and row.intended_start_ns < start_ns:
        return "intended_start_ns is before the trial; instants are of CLOCK_MONOTONIC"
    return None


def read_rows(output: Path, stem: str, model: type[_Row]) -> Iterator[tuple[str, _Row]]:
    """Each row of a file with its place; raises `WrongRowError` for one that cannot be read, or has a column of another
    workload. Columns that the contract does not know are left alone.
    """
    exchanges = issubclass(model, Exchange)
    stamped, always = (_STAMPED, _EXCHANGE) if exchanges else ((), _RESOURCE)
    for place, row in _documents(output, stem):
        for name in row if exchanges else ():
            if name not in model.model_fields and (kinds := workloads_with(name)):
                raise WrongRowError(f"{place}: {name} is a column of {' and '.join(kinds)}, not of this workload")
        needed = (*always, *(stamped if row.get("outcome") in _STAMPED_OUTCOMES else ()))
        if absent := [name for name in needed if row.get(name) is None]:
            raise WrongRowError(f"{place}: no {absent[0]}")
        without = [name for name in stamped if row.get(name) is None]
        known = {name: value for name, value in row.items() if name in model.model_fields and name not in without}
        if fraction := next((name for name, value in known.items() if isinstance(value, float)), None):
            raise WrongRowError(f"{place}: {fraction}: Input should be a whole number ({row[fraction]})")
        try:
            yield place, model.model_validate(known)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(map(str, first["loc"]))
            value = json.dumps(first["input"], ensure_ascii=False, default=str)
            raise WrongRowError(f"{place}: {key}: {first['msg']} ({value})") from None


def _documents(output: Path, stem: str) -> Iterator[tuple[str, dict[str, object]]]:
    if (path := output / f"{stem}.arrow").exists():
        import polars as pl

        try:
            rows = pl.read_ipc(path).to_dicts()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise WrongRowError(f"{output.name}/{path.name} cannot be read: {error}") from None
        yield from ((f"{output.name}/{path.name}, row {number}", row) for number, row in enumerate(rows, 1))
    elif (path := output / f"{stem}.jsonl").exists():
        text = path.read_bytes().removesuffix(b"\n")
        for number, line in enumerate(text.split(b"\n") if text else (), 1):
            place = f"{output.name}/{path.name}:{number}"
            try:
                # What polars or the agent would read otherwise, or not at all, is refused here with its place.
                row = json.loads(line, parse_constant=_no_number, object_pairs_hook=_each_once)
                json.dumps(row, ensure_ascii=False).encode()
            except (ValueError, RecursionError) as error:
                raise WrongRowError(f"{place}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise WrongRowError(f"{place}: not a JSON object")
            yield place, row


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} stands there twice")
    return row
