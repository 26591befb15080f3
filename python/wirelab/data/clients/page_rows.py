"""One page load to rows: one of the load, and one of each request (`docs/contract.md`). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from page_events import Load, Request

Row = dict[str, Any]
NAMED = 5
"""Paths that an error names; the others are counted."""
DEFAULT_URGENCY = 3
"""RFC 9218, section 4.1."""


@dataclass(frozen=True)
class _Ending:
    """When a load ended, and whether because it was given up."""

    at_ns: int
    given_up: bool


@dataclass(frozen=True)
class Page:
    """What a load is held against: the manifest's resources, and the protocol that every response must name."""

    resources: Sequence[Mapping[str, Any]]
    protocol: str
    tls: str | None = None
    """The version of TLS, as Chromium calls it; QUIC has its own word for that."""

    @cached_property
    def places(self) -> dict[str, int]:
        """Path to index."""
        return {resource["path"]: index for index, resource in enumerate(self.resources)}

    def has_ended(self, load: Load) -> bool:
        """Whether nothing of it that was asked for is still open."""
        return not any(each.open for each in load.requests.values() if load.path(each) in self.places)

    def refusal(self, response: Mapping[str, Any]) -> str | None:
        """What a response came over, if that is not what was to be measured."""
        if (protocol := response.get("protocol")) not in {None, self.protocol}:
            return f"came over {protocol}, not {self.protocol}"
        tls = (response.get("securityDetails") or {}).get("protocol")
        return f"came over {tls}, not {self.tls}" if self.tls is not None and tls not in {None, self.tls} else None


def rows_of(load: Load, page: Page, index: int, navigated_ns: int, given_up_ns: int | None) -> tuple[Row, list[Row]]:
    """The row of a load, and those of its requests in the order in which the browser knew that it wants them.

    `navigated_ns` is when it was asked to navigate; `given_up_ns` when that was given up, none if the page loaded.
    """
    _date_early(load)
    start_ns = navigated_ns if load.start_ns is None else load.start_ns
    ended_ns = given_up_ns or _ended_ns(load, page, start_ns)
    requests = sorted(load.requests.values(), key=lambda each: each.discovered_ns)
    connections = _connections(requests)
    ending = _Ending(ended_ns, given_up_ns is not None)
    resources = [
        {**_resource(each, load.path(each), page, ending), **_connection(each, connections)} for each in requests
    ]
    _tell_once(resources)
    outcome, error = _judge(load, page, resources, given_up_ns is not None)
    document = next((row for row, request in zip(resources, requests, strict=True) if request.document), {})
    phases = ("tcp_connect_ns", "handshake_ns", "request_start_ns", "first_response_byte_ns", "status")
    exchange: Row = {
        "index": index,
        "client": 0,
        "intended_start_ns": start_ns,
        "start_ns": start_ns,
        **{phase: document.get(phase) for phase in phases},
        "first_final_byte_ns": None if load.document is None else load.document.first_final_byte_ns,
        "end_ns": max(start_ns, ended_ns),
        "outcome": outcome,
        "error": error,
        "body_received_bytes": sum(row["body_received_bytes"] for row in resources),
        "connections": len(connections),
    }
    return exchange, [{"exchange": index, "client": 0, **row} for row in resources]


def priority_of(text: str | None) -> tuple[int | None, bool | None]:
    """Urgency and incremental of a `priority` field (RFC 9218); what is left out has its default."""
    if text is None:
        return None, None
    urgency = re.search(r"(?:^|[,\s])u=([0-7])", text)
    return int(urgency[1]) if urgency else DEFAULT_URGENCY, re.search(
        r"(?:^|[,\s])i(?:=\?1)?(?:$|[,;\s])", text
    ) is not None


def named(paths: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = len(paths) - NAMED
    return ", ".join(paths[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _date_early(load: Load) -> None:
    """What a 103 response named was known of when that came, which is the document's first byte."""
    hinted_ns = None if load.document is None else load.document.at("receiveHeadersStart")
    for each in load.requests.values():
        if each.early and hinted_ns is not None:
            each.discovered_ns = min(each.discovered_ns, hinted_ns)


def _ended_ns(load: Load, page: Page, start_ns: int) -> int:
    """The load event, or the last byte of the page's last resource where that is later: a preload holds no load event
    up. Without a load event, the last that happened.
    """
    counted = (each for each in load.requests.values() if load.loaded_ns is None or load.path(each) in page.places)
    return max([load.loaded_ns or start_ns, *map(_end_ns, counted)])


def _tell_once(resources: Sequence[Row]) -> None:
    """Of several requests for a resource the first that completed is its row; the others were of no use."""
    seen: set[int] = set()
    for row in sorted(resources, key=lambda row: row["outcome"] != "completed"):
        if row["resource"] in seen:
            row["resource"] = None
        elif row["resource"] is not None:
            seen.add(row["resource"])


def _connections(requests: Sequence[Request]) -> dict[int, list[Request]]:
    """The requests of each of Chromium's connections, in the order of their first ones. One that is opened ahead and
    carries no request is not reported.
    """
    found: dict[int, list[Request]] = {}
    for each in sorted(requests, key=lambda each: each.at("sendStart") or each.discovered_ns):
        if each.connection is not None:
            found.setdefault(each.connection, []).append(each)
    return found


def _resource(request: Request, path: str, page: Page, ending: _Ending) -> Row:
    """The outcome of a request; the connection that it went over is separate."""
    place = page.places.get(path)
    outcome, error = _outcome(request, page, place, ending.given_up)
    connect_end, tls_start = request.at("connectEnd"), request.at("sslStart")
    quic = page.protocol == "h3"
    urgency, incremental = priority_of(request.priority)
    return {
        "resource": place,
        "path": path,
        "found_by": _found_by(request),
        "discovered_ns": request.discovered_ns,
        "connect_start_ns": request.at("connectStart"),
        "tcp_connect_ns": None if quic else connect_end if tls_start is None else tls_start,
        "handshake_ns": connect_end if quic else request.at("sslEnd"),
        "request_start_ns": request.at("sendStart"),
        "first_response_byte_ns": request.at("receiveHeadersStart"),
        "end_ns": max(request.discovered_ns, ending.at_ns if request.open else _end_ns(request)),
        "outcome": outcome,
        "error": error,
        "status": request.response.get("status"),
        "body_received_bytes": request.received_bytes,
        "urgency": urgency,
        "incremental": incremental,
    }


def _connection(request: Request, connections: Mapping[int, Sequence[Request]]) -> Row:
    """Its number within the load. Chromium calls one reused that it has opened ahead of the first request."""
    name = request.connection
    if name is None:
        return {"connection": None, "connection_reused": False}
    return {"connection": list(connections).index(name), "connection_reused": connections[name][0] is not request}


def _found_by(request: Request) -> str:
    if request.document:
        return "navigation"
    return "hint" if request.hinted or request.early else "body"


def _end_ns(request: Request) -> int:
    return int(request.finished_ns or request.failed_ns or request.discovered_ns)


def _outcome(request: Request, page: Page, place: int | None, given_up: bool) -> tuple[str, str | None]:
    """How a request ended, and why not well."""
    if (refusal := page.refusal(request.response)) is not None:
        return "failed", refusal
    if request.open:
        return ("timed-out", None) if given_up else ("failed", "still open at the load event")
    if request.error is not None:
        return "failed", request.error
    if not 200 <= request.response.get("status", 0) < 300:
        return "failed", f"status {request.response.get('status')}"
    if place is not None and request.body_bytes != (whole := page.resources[place]["body_bytes"]):
        return "failed", f"{request.body_bytes} of {whole} bytes"
    return "completed", None


def _judge(load: Load, page: Page, resources: Sequence[Row], given_up: bool) -> tuple[str, str | None]:
    """How a load ended, by what the page is made of: requests of other things may fail."""
    if (row := next((row for row in resources if (row["error"] or "").startswith("came over ")), None)) is not None:
        return "failed", f"{row['path']} {row['error']}"
    if load.error is not None:
        return "failed", load.error
    completed = {row["resource"] for row in resources if row["outcome"] == "completed"}
    lacking = [resource["path"] for index, resource in enumerate(page.resources) if index not in completed]
    if given_up:
        if waited_for := [row["path"] for row in resources if row["outcome"] == "timed-out"]:
            return "timed-out", f"open: {named(waited_for)}"
        return "timed-out", f"not asked for: {named(lacking)}" if lacking else "everything had come, but no load event"
    if (row := next((row for row in resources if row["path"] in lacking), None)) is not None:
        return "failed", f"{row['path']}: {row['error']}"
    return ("failed", f"not asked for: {named(lacking)}") if lacking else ("completed", None)
