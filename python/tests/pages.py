"""A campaign that loads a page over two versions of HTTP, as its clients would have recorded it. Instants follow a
round trip of 40 ms and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.metrics.records import MS, Records
from wirelab.schema import Outcome, PageExchange, PageIdentity, ResourceTiming
from wirelab.schema.campaign import page_manifest
from wirelab.site import Page
from wirelab.site.synthetic import images

RTT = 40 * MS
PAGE = images(8, 2_000)
LOADS, TRIALS = 3, 3
START = 10_000 * MS
BETWEEN = 1_000 * MS
AT_ONCE = {"http1": 6, "h2": 1_000}
PROTOCOLS = ("http1", "h2")


def write(folder: Path, *, page: Page = PAGE) -> Records:
    """Plan, manifest and trials; the last load of the last trial of `h2` timed out."""
    scenarios = {key(protocol): _scenario(protocol, page) for protocol in PROTOCOLS}
    records = Records(folder, scenarios)
    manifest = page_manifest(folder, page.site.digest)
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps(page.site.to_json()))
    for replicate in range(TRIALS):
        for protocol in PROTOCOLS:
            loads, rows = [], []
            for index in range(LOADS):
                given_up = (protocol, replicate, index) == ("h2", TRIALS - 1, LOADS - 1)
                load, resources = make_load(protocol, index, page, late=replicate * MS, given_up=given_up)
                loads.append(load)
                rows += resources
            records.trial(key(protocol), loads, resources=rows)
    return records


def make_load(
    protocol: str, index: int, page: Page = PAGE, *, late: int = 0, given_up: bool = False
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One load and its resources. Every request takes a round trip, and each connection one or two before its first."""
    start = START + index * BETWEEN
    opened = start + RTT * (2 if protocol == "h2" else 1)
    tls = {"handshake_ns": opened} if protocol == "h2" else {}
    first = start + RTT if protocol == "h2" else opened
    document = {
        "resource": 0, "found_by": "navigation", "discovered_ns": start, "connection": 0,
        "connect_start_ns": start + 1 * MS // 2, "tcp_connect_ns": first, **tls,
        "request_start_ns": opened, "first_response_byte_ns": opened + RTT, "end_ns": opened + RTT + MS + late,
    }  # fmt: skip
    rows = [document]
    known = int(document["end_ns"])
    free = dict.fromkeys(range(AT_ONCE[protocol]), known)
    for place in range(1, len(page.site.resources)):
        number = min(free, key=lambda each: (free[each], each)) if protocol == "http1" else 0
        new = number != 0 and not any(row["connection"] == number for row in rows)
        at = max(free[number], known) if protocol == "http1" else known
        ready = at + RTT if new else at
        row = {
            "resource": place, "found_by": "body", "discovered_ns": known, "connection": number,
            "connection_reused": not new, "request_start_ns": ready, "first_response_byte_ns": ready + RTT,
            "end_ns": ready + RTT + MS, "urgency": 3 if protocol == "h2" else None,
            "incremental": True if protocol == "h2" else None,
        }  # fmt: skip
        if new:
            row |= {"connect_start_ns": at, "tcp_connect_ns": ready}
        free[number] = int(row["end_ns"])
        rows.append(row)
    if given_up:
        rows[-1] |= {"outcome": Outcome.TIMED_OUT, "error": "given up", "first_response_byte_ns": None}
    made = [_resource(row, index, page) for row in rows]
    return _load(rows, index, page, start, given_up=given_up), made


def _resource(row: Mapping[str, Any], index: int, page: Page) -> dict[str, Any]:
    said = page.site.resources[row["resource"]]
    whole = {"outcome": Outcome.COMPLETED, "status": 200, "body_received_bytes": said.body_bytes}
    given = whole if "outcome" not in row else {}
    return ResourceTiming.model_validate({"exchange": index, "path": said.path, **given, **row}).model_dump(mode="json")


def _load(rows: list[dict[str, Any]], index: int, page: Page, start: int, *, given_up: bool) -> dict[str, Any]:
    document = rows[0]
    same = ("tcp_connect_ns", "handshake_ns", "request_start_ns", "first_response_byte_ns")
    return PageExchange(
        index=index, intended_start_ns=start, start_ns=start, end_ns=max(row["end_ns"] for row in rows),
        outcome=Outcome.TIMED_OUT if given_up else Outcome.COMPLETED,
        error="not complete: /8.png" if given_up else None,
        status=200, body_received_bytes=page.site.body_bytes, local_port=40_000 + index,
        connections=len({row["connection"] for row in rows}), pushed_bytes=0, wasted_pushed_bytes=0,
        first_final_byte_ns=document["first_response_byte_ns"], **{name: document.get(name) for name in same},
    ).model_dump(mode="json")  # fmt: skip


def key(protocol: str) -> str:
    """Of its scenario."""
    return hashlib.sha256(protocol.encode()).hexdigest()


def _scenario(protocol: str, page: Page) -> dict[str, Any]:
    site = page.site
    identity = PageIdentity(name="eight", sha256=site.digest, resources=len(site.resources), body_bytes=site.body_bytes)
    levels = {"protocol": protocol}
    delay = [{"kind": "delay", "delay_ns": RTT // 2}]
    return {
        "protocol": protocol, "name": protocol, "levels": levels, "points": [levels], "link_name": "wire",
        "link": {"uplink": delay, "downlink": delay}, "congestion_control": "cubic",
        "workload": {"kind": "page", "loads": LOADS, "timeout_ns": 60_000 * MS, "page": identity.to_json()},
        "expected_exchange_ns": 1, "expected_trial_ns": 1,
    }  # fmt: skip
