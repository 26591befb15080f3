"""Rows of the resources of a page's loads that a client not ours has written, held against the manifest and the loads
before they count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from wirelab.runner.rows import EXCHANGES, RESOURCES, WrongRowError, read_rows
from wirelab.schema import Exchange, Outcome, PageExchange, ResourceTiming
from wirelab.site import Site

_IN_ORDER = ("discovered_ns", "request_start_ns", "first_response_byte_ns", "end_ns")
_CONNECTING = ("connect_start_ns", "tcp_connect_ns", "handshake_ns")


def wrong_resources(output: Path, site: Site) -> str | None:
    """What is wrong with a client's rows of resources, in one line; none if they can be read, each lies within its load
    and is of what the manifest says, and a complete load has all of the page.
    """
    whole: dict[tuple[int, int], str] = {}
    try:
        loads = {row.index: row for _, row in read_rows(output, EXCHANGES, PageExchange)}
        for place, row in read_rows(output, RESOURCES, ResourceTiming):
            if (why := next(_wrong(row, loads, site), None)) is not None:
                return f"{place}: {why}"
            if row.outcome is not Outcome.COMPLETED or row.resource is None:
                continue
            key = (row.exchange, row.resource)
            if not row.pushed and key in whole:
                return f"{place}: {row.path} of load {row.exchange} is a duplicate of {whole[key]}"
            whole.setdefault(key, place)
    except WrongRowError as error:
        return str(error)
    for load in loads.values():
        absent = [site.resources[each].path for each in range(len(site.resources)) if (load.index, each) not in whole]
        if load.outcome is Outcome.COMPLETED and absent:
            return f"load {load.index} is completed, and {output.name}/{RESOURCES} has no completed row of {absent[0]}"
    return None


def _wrong(row: ResourceTiming, loads: Mapping[int, Exchange], site: Site) -> Iterator[str]:
    """The errors in a row; only the first is reported."""
    if (load := loads.get(row.exchange)) is None or row.client != load.client:
        yield f"there is no load {row.exchange} of client {row.client}"
        return
    if row.resource is not None:
        yield from _not_as_the_manifest_says(row, row.resource, site)
    for names in (_IN_ORDER, _CONNECTING):
        seen = [(name, value) for name in names if (value := getattr(row, name)) is not None]
        for (earlier, before), (later, after) in pairwise(seen):
            if after < before:
                yield f"{later} is {before - after} ns before {earlier}"
    if row.discovered_ns < load.start_ns:
        yield f"discovered_ns is {load.start_ns - row.discovered_ns} ns before the load's start"
    needed = row.outcome is Outcome.COMPLETED and row.resource is not None and not row.pushed
    if needed and load.outcome is Outcome.COMPLETED and row.end_ns > load.end_ns:
        yield f"end_ns is {row.end_ns - load.end_ns} ns after the load's end"


def _not_as_the_manifest_says(row: ResourceTiming, resource: int, site: Site) -> Iterator[str]:
    if resource >= len(site.resources):
        yield f"there is no resource {resource}: the manifest has {len(site.resources)}"
        return
    meant = site.resources[resource]
    if row.path != meant.path:
        yield f"resource {resource} is {meant.path}, not {row.path}"
    if row.outcome is Outcome.COMPLETED and row.body_received_bytes != meant.body_bytes:
        yield f"{row.path} has {meant.body_bytes} bytes, not {row.body_received_bytes}"
