"""Rows that a client not ours has written, held against the contract (`docs/contract.md`) before they count."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wirelab.schema import Exchange, Outcome, WorkloadSpec

ARROW, LINES = "exchanges.arrow", "exchanges.jsonl"
_NEEDED = ("index", "outcome")
_STAMPED = ("start_ns", "end_ns")


def wrong_rows(output: Path, workload: WorkloadSpec, start_ns: int, end_ns: int) -> str | None:
    """What is wrong with a client's rows, in one line; none if they can be read, are as many as the workload has
    exchanges, each of another, and lie within the trial.
    """
    try:
        rows = list(_rows(output))
    except _WrongRowError as error:
        return str(error)
    if len(rows) != workload.rows:
        counted = f"{len(rows)} rows" if rows else "no rows"
        return f"the client wrote {counted} in {output.name}/{LINES}, and the workload has {workload.rows} exchanges"
    first: dict[tuple[int, int], str] = {}
    for place, row in rows:
        if (other := first.setdefault((row.client, row.index), place)) is not place:
            return f"{place}: client {row.client}, index {row.index} again, as {other} has it"
        if row.end_ns < row.start_ns:
            return f"{place}: end_ns is {row.start_ns - row.end_ns} ns before start_ns"
        # Of a message that never came nobody may know when it was published.
        if row.outcome is Outcome.COMPLETED and (row.start_ns < start_ns or row.end_ns > end_ns):
            return f"{place}: start_ns and end_ns are not within the trial; instants are of CLOCK_MONOTONIC"
    return None


class _WrongRowError(Exception):
    """A row that cannot be read."""


def _rows(output: Path) -> Iterator[tuple[str, Exchange]]:
    for place, row in _documents(output):
        needed = (*_NEEDED, *_STAMPED) if row.get("outcome") == Outcome.COMPLETED else _NEEDED
        if absent := [name for name in needed if row.get(name) is None]:
            raise _WrongRowError(f"{place}: no {absent[0]}")
        without = [name for name in _STAMPED if row.get(name) is None]
        known = {name: value for name, value in row.items() if name in Exchange.model_fields and name not in without}
        try:
            yield place, Exchange.model_validate(known)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(map(str, first["loc"]))
            value = json.dumps(first["input"], ensure_ascii=False, default=str)
            raise _WrongRowError(f"{place}: {key}: {first['msg']} ({value})") from None


def _documents(output: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if (path := output / ARROW).exists():
        import polars as pl

        try:
            rows = pl.read_ipc(path).to_dicts()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _WrongRowError(f"{output.name}/{ARROW} cannot be read: {error}") from None
        yield from ((f"{output.name}/{ARROW}, row {number}", row) for number, row in enumerate(rows, 1))
    elif (path := output / LINES).exists():
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            place = f"{output.name}/{LINES}:{number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise _WrongRowError(f"{place}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise _WrongRowError(f"{place}: not a JSON object")
            yield place, row
