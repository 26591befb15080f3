"""Page loads by nghttp: the client's half of the contract (docs/contract.md) for the workload `page`.

usage: nghttp_page.py PARAMETERS nghttp ARGUMENTS... ORIGIN

It is executed once for each load, asks for the document and for the stylesheets, scripts and images that the document
names (`--get-assets`), and tells what it did as an HTTP Archive (`--har=-`): instants to the millisecond, durations to
the microsecond. What this script takes itself is a process's CPU time too, so that it imports little.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from row_files import write_rows

USAGE = 2
NAMED = 5
"""Paths that an error names."""
CUT_NS = 1_000_000
"""What a date of nghttp may lack: it is cut to the millisecond."""
Row = dict[str, Any]
Resources = Sequence[Mapping[str, Any]]


class Load:
    """One execution: when, and what it left."""

    def __init__(self, start_ns: int, end_ns: int, words: str, why: str | None) -> None:
        self.start_ns, self.end_ns, self.words, self.why = start_ns, end_ns, words, why
        self.given_up = False

    @classmethod
    def run(cls, command: Sequence[str], timeout_ns: int) -> Load:
        """Execute the program until it ends, or is given up."""
        start_ns = time.monotonic_ns()
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout_ns / 1e9)
        except subprocess.TimeoutExpired:
            load = cls(start_ns, time.monotonic_ns(), "", None)
            load.given_up = True
            return load
        words = done.stderr.strip()[-200:]
        why = f"nghttp ended with {done.returncode}: {words}" if done.returncode else None
        return cls(start_ns, time.monotonic_ns(), done.stdout, why)


def rows_of(load: Load, index: int, page: Resources, real_to_monotonic_ns: int) -> tuple[Row, list[Row]]:
    """The row of a load, and those of its requests in the order in which they were made."""
    archive, wrong = _archive(load)
    entries = sorted(archive, key=lambda entry: str(entry["startedDateTime"]))
    began_ns, requests = load.start_ns, []
    for number, entry in enumerate(entries):
        started_ns = _instant(entry["startedDateTime"]) + real_to_monotonic_ns
        # A date is cut to the millisecond, and may so lie before the process's start.
        requests.append(_request(entry, not number, max(started_ns, began_ns), load.end_ns, page))
    _once(requests)
    completed = {row["resource"] for row in requests if row["outcome"] == "completed"}
    lacking = [str(resource["path"]) for place, resource in enumerate(page) if place not in completed]
    outcome, error = _judge(load, wrong, lacking, requests)
    used = [row for row in requests if row["resource"] is not None]
    first = requests[0] if requests else {}
    names = ("tcp_connect_ns", "handshake_ns", "request_start_ns", "first_response_byte_ns", "status")
    row: Row = {
        "index": index, "client": 0, "intended_start_ns": began_ns, "start_ns": began_ns,
        **{name: first.get(name) for name in names}, "first_final_byte_ns": first.get("first_response_byte_ns"),
        "end_ns": _latest(max(each["end_ns"] for each in used), load) if outcome == "completed" else load.end_ns,
        "outcome": outcome, "error": error,
        "body_received_bytes": sum(each["body_received_bytes"] for each in requests), "connections": 1,
    }  # fmt: skip
    return row, [{"exchange": index, "client": 0, **each} for each in requests]


def _latest(end_ns: int, load: Load) -> int:
    """Its dates are cut, so that the last byte may have come up to a millisecond later than they say."""
    return min(end_ns + CUT_NS, load.end_ns)


def _archive(load: Load) -> tuple[list[dict[str, Any]], str | None]:
    """Its entries, and why there are none."""
    if load.given_up or load.why is not None:
        return [], load.why
    try:
        return json.loads(load.words)["log"]["entries"], None
    except (KeyError, TypeError, ValueError) as error:
        return [], f"no HTTP Archive in what nghttp said: {error!r}"


def _request(entry: Mapping[str, Any], begun: bool, started_ns: int, last_ns: int, page: Resources) -> Row:
    """The row of one entry, the connection's first or not. Its own times are exact, and count from its cut date."""
    url, timings, response = urlsplit(entry["request"]["url"]), entry["timings"], entry["response"]
    path = f"{url.path}?{url.query}" if url.query else url.path
    connected_ns = started_ns + _ns(timings["dns"] + timings["connect"])
    end_ns = min(last_ns, started_ns + _ns(entry["time"]))
    first_ns = max(started_ns, end_ns - _ns(timings["receive"]))
    asked_ns = max(started_ns, first_ns - _ns(timings["wait"]))
    place, size = _place(path, page), int(response["content"]["size"])
    status = int(response["status"])
    error = None
    if not 200 <= status < 300:
        error = f"status {status}"
    elif place is not None and size != page[place]["body_bytes"]:
        error = f"{size} of {page[place]['body_bytes']} bytes"
    secure = url.scheme == "https"
    return {
        "resource": place, "path": path, "found_by": "navigation" if begun else "body",
        "discovered_ns": started_ns, "connection": 0, "connection_reused": not begun,
        "connect_start_ns": started_ns if begun else None,
        "tcp_connect_ns": connected_ns if begun and not secure else None,
        "handshake_ns": connected_ns if begun and secure else None,
        "request_start_ns": asked_ns, "first_response_byte_ns": first_ns, "end_ns": end_ns,
        "outcome": "failed" if error else "completed", "error": error, "status": status, "body_received_bytes": size,
    }  # fmt: skip


def _place(path: str, page: Resources) -> int | None:
    return next((place for place, resource in enumerate(page) if resource["path"] == path), None)


def _once(requests: Sequence[Row]) -> None:
    """A resource is that of the first request for it which completed."""
    seen: set[int] = set()
    for row in sorted(requests, key=lambda row: row["outcome"] != "completed"):
        if row["resource"] in seen:
            row["resource"] = None
        elif row["resource"] is not None:
            seen.add(row["resource"])


def _judge(load: Load, wrong: str | None, lacking: Sequence[str], requests: Sequence[Row]) -> tuple[str, str | None]:
    if load.given_up:
        return "timed-out", "what was open nghttp does not tell when it is ended"
    if wrong is not None:
        return "failed", wrong
    if (row := next((row for row in requests if row["path"] in lacking), None)) is not None:
        return "failed", f"{row['path']}: {row['error']}"
    if lacking:
        more = f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
        return "failed", f"not asked for: {', '.join(lacking[:NAMED])}{more}"
    return "completed", None


def _instant(date: str) -> int:
    """Nanoseconds of CLOCK_REALTIME."""
    return round(datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp() * 1000) * 1_000_000


def _ns(milliseconds: float) -> int:
    return round(milliseconds * 1e6)


def main(arguments: Sequence[str]) -> int:
    """Perform the workload of the parameter file; the exit code."""
    try:
        everything = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        loads, timeout_ns = int(everything["workload"]["loads"]), int(everything["workload"]["timeout_ns"])
        page = json.loads(Path(everything["page"]["manifest"]).read_text(encoding="utf-8"))["resources"]
        output, origin = Path(everything["output"]), arguments[-1]
    except (IndexError, KeyError, OSError, TypeError, ValueError) as error:
        print(f"cannot read the parameters: {error!r}", file=sys.stderr)
        return USAGE
    command = [*arguments[1:-1], f"{origin}{page[0]['path']}"]
    # What this script took until now is no load's.
    print(json.dumps({"event": "ready", "ports": {}, "cpu_ns": time.process_time_ns()}), flush=True)
    exchanges: list[Row] = []
    resources: list[Row] = []
    for index in range(loads):
        # The dates are of CLOCK_REALTIME, which may be set between two loads.
        real_to_monotonic_ns = time.monotonic_ns() - time.time_ns()
        exchange, requests = rows_of(Load.run(command, timeout_ns), index, page, real_to_monotonic_ns)
        exchanges.append(exchange)
        resources += requests
    write_rows(output / "resources.jsonl", resources)
    write_rows(output / "exchanges.jsonl", exchanges)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
