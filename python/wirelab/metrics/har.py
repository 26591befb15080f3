"""Loads of a page as an HTTP Archive, which browsers' developer tools and other viewers open.

HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/): times in milliseconds, -1 for a phase that does not apply.
What the format does not know begins with an underscore, as it wants it to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl

import polars as pl

from wirelab import __version__
from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.metrics.resource_timings import RESOURCES
from wirelab.metrics.tables import read_table
from wirelab.schema import ProtocolDescription
from wirelab.schema.campaign import RESULT, TRIALS, read_result
from wirelab.schema.plan import Plan, Scenario
from wirelab.schema.workload import PageLoads

Json = dict[str, Any]
_COUNTED = ("blocked", "dns", "connect", "send", "wait", "receive")
"""What adds up to an entry's time."""
_NONE = -1
_MS = 1e6


@dataclass(frozen=True)
class Server:
    """Who was asked: the start of its URLs, and the version of HTTP that it spoke."""

    origin: str
    version: str

    @classmethod
    def of(cls, protocol: ProtocolDescription, name: str) -> Self:
        """The server of a protocol by its name."""
        scheme, usual = ("https", 443) if protocol.secure else ("http", 80)
        port = "" if protocol.default_port == usual else f":{protocol.default_port}"
        version = protocol.name if protocol.http_version is None else f"HTTP/{protocol.http_version}"
        return cls(f"{scheme}://{name}{port}", version)

    def url(self, path: str) -> str:
        """Of a resource; what another server was asked for has its own already."""
        return f"{self.origin}{path}" if path.startswith("/") else path


def har(scenario: Scenario, server: Server, loads: Sequence[Json], resources: Sequence[Json], shift_ns: int) -> Json:
    """An archive of a trial's loads (rows of `exchanges.parquet`) with their resources (rows of `resources.parquet`).

    `shift_ns` is what its instants lack of CLOCK_REALTIME.
    """
    pages, entries = [], []
    for load in loads:
        page = _page(load, scenario, shift_ns)
        mine = [row for row in resources if row["exchange"] == load["index"]]
        urls = {row["resource"]: server.url(row["path"]) for row in mine if row["resource"] is not None}
        entries += [{"pageref": page["id"], **_entry(row, page["id"], server, urls, shift_ns)} for row in mine]
        pages.append(page)
    ends = scenario.implementation
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "Wirelab", "version": __version__},
            "pages": pages,
            "entries": sorted(entries, key=lambda entry: entry["startedDateTime"]),
            "comment": f"{scenario.name}; client {ends.client}, server {ends.server}",
        }
    }


def archive(campaign: Path, plan: Plan, trial: str, loads: pl.DataFrame, server: str) -> Json:
    """Of these loads of a campaign's trial, whose server has this name. Raises `WirelabError` if there is none, if the
    trial loads no page, or if the campaign was measured before resources were.
    """
    if loads.is_empty():
        raise WirelabError(f"{campaign} has no load of {trial}", hint=f"its trials are in {campaign / TRIALS}")
    scenario = plan.scenario_of(trial)
    assert scenario is not None, "a trial with exchanges is planned"
    if scenario.workload.kind != "page":
        what = f"{trial} loads no page, and an archive is of pages ({scenario.workload.kind})"
        raise WirelabError(what, hint="--scenario or --protocol chooses another")
    if not (campaign / RESOURCES).exists():
        raise WirelabError(f"{campaign} has no {RESOURCES}", hint=launched(f"measure {campaign}"))
    protocol = plan.known.protocol(scenario.protocol)
    assert protocol is not None, "the plan describes what is not built in"
    result = read_result(campaign / TRIALS / trial / RESULT)
    shift_ns = result.start_realtime_ns - result.start_ns
    resources = read_table(campaign / RESOURCES).filter(pl.col("trial") == trial)
    return har(scenario, Server.of(protocol, server), loads.to_dicts(), resources.to_dicts(), shift_ns)


def _page(load: Json, scenario: Scenario, shift_ns: int) -> Json:
    assert isinstance(scenario.workload, PageLoads), "an archive is of pages"
    complete = load["outcome"] == "completed"
    page = {
        "startedDateTime": _date(load["start_ns"] + shift_ns),
        "id": f"{load['trial']}/{load['index']}",
        "title": f"{scenario.workload.page.name} over {scenario.name}",
        "pageTimings": {
            "onContentLoad": _NONE,
            "onLoad": (load["end_ns"] - load["start_ns"]) / _MS if complete else _NONE,
        },
    }
    return page if complete else page | {"comment": f"{load['outcome']}: {load['error'] or 'no reason given'}"}


def _entry(row: Json, page: str, server: Server, urls: Mapping[int, str], shift_ns: int) -> Json:
    timings = _timings(row)
    query = parse_qsl(row["path"].partition("?")[2], keep_blank_values=True)
    entry = {
        "startedDateTime": _date(row["discovered_ns"] + shift_ns),
        "time": sum(timings[phase] for phase in _COUNTED if timings[phase] > 0),
        "request": {
            "method": "GET", "url": server.url(row["path"]), "httpVersion": server.version, "cookies": [],
            "headers": [], "queryString": [{"name": name, "value": value} for name, value in query],
            "headersSize": _NONE, "bodySize": 0,
        },
        "response": {
            "status": row["status"] or 0, "statusText": "", "httpVersion": server.version, "cookies": [], "headers": [],
            "content": {"size": row["body_received_bytes"], "mimeType": row["media_type"] or ""}, "redirectURL": "",
            "headersSize": _NONE, "bodySize": row["body_received_bytes"],
        },
        "cache": {},
        "timings": timings,
        "_found_by": row["found_by"],
        "_outcome": row["outcome"],
    }  # fmt: skip
    more = {
        "connection": None if row["connection"] is None else f"{page}/{row['connection']}",
        "comment": row["error"],
        "_initiator": {"url": urls[row["parent"]]} if row["parent"] in urls else None,
        "_urgency": row["urgency"],
        "_incremental": row["incremental"],
        "_was_pushed": 1 if row["pushed"] else None,
    }
    return entry | {key: value for key, value in more.items() if value is not None}


def _timings(row: Json) -> dict[str, float]:
    """`connect` is TCP's and TLS's together, as the format has it, and `ssl` the latter again. What a request takes to
    be sent is not distinguished from waiting.
    """
    tcp, secure = row["phase_connect_ns"], row["phase_handshake_ns"]
    opened = tcp is not None or secure is not None
    return {
        "blocked": row["phase_queued_ns"] / _MS,
        "dns": _NONE,
        "connect": ((tcp or 0) + (secure or 0)) / _MS if opened else _NONE,
        "ssl": _NONE if secure is None else secure / _MS,
        "send": 0,
        "wait": (row["phase_wait_ns"] or 0) / _MS,
        "receive": (row["phase_transfer_ns"] or 0) / _MS,
    }


def _date(realtime_ns: int) -> str:
    """ISO 8601 with microseconds, in UTC."""
    seconds, rest = divmod(realtime_ns, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest // 1000:06d}Z"
