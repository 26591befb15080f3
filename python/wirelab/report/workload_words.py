"""A workload of plan.json in words. Makes no section."""

from __future__ import annotations

from wirelab.report.model import Json
from wirelab.site import count
from wirelab.units import format_duration, format_size


def workload_words(workload: Json) -> str:
    """A workload in words."""
    if not workload:
        return "unknown"
    if workload.get("kind") in {"notify", "stream"}:
        return _telling_words(workload)
    if workload.get("kind") == "page":
        return _page_words(workload)
    arrival = workload.get("arrival") or {}
    process = {"closed": "the next starts when one ends"}.get(
        str(arrival.get("process")), f"{arrival.get('process')} arrivals at {arrival.get('rate_hz')} /s"
    )
    connection = workload.get("connection") or {}
    policy = {
        "fresh": "a fresh connection for each",
        "resumed": "a connection for each that resumes the session before",
    }.get(str(connection.get("policy")), "kept connections: " + str(connection.get("connections")))
    if workload.get("kind") == "deliver":
        content = f"readings of {format_size(workload.get('message_bytes', 0))} delivered"
    else:
        content = (
            f"upload {format_size(workload.get('upload_bytes', 0))}, "
            f"download {_download_words(workload.get('download_bytes', 0))}"
        )
    clients = workload.get("clients", 1)
    of_each = f" of each of {clients} clients" if clients > 1 else ""
    return (
        f"{workload.get('exchanges')} exchanges a trial{of_each}, {content}; {process}, "
        f"{workload.get('concurrency')} at once; {policy}; "
        f"given up after {format_duration(workload.get('timeout_ns', 0))}"
    )


def _download_words(sizes: int | list[int]) -> str:
    return format_size(sizes) if isinstance(sizes, int) else " and ".join(map(format_size, sizes)) + " in turn"


def _page_words(workload: Json) -> str:
    page = workload.get("page") or {}
    return (
        f"{count(workload.get('loads', 0), 'load')} a trial of the page {page.get('name')} "
        f"({count(page.get('resources', 0), 'resource')}, "
        f"{format_size(page.get('body_bytes', 0))}), one after another, each without connections and with an empty "
        f"cache; given up after {format_duration(workload.get('timeout_ns', 0))}"
    )


def _telling_words(workload: Json) -> str:
    arrival = workload.get("arrival") or {"process": "fixed", "rate_hz": workload.get("rate_hz")}
    spacing = "evenly spaced" if arrival.get("process") == "fixed" else "Poisson"
    buffer = ""
    if (delay_ns := workload.get("playout_delay_ns")) is not None:
        buffer = f"; the player buffers {format_duration(delay_ns)}"
    return (
        f"{workload.get('kind')}: {workload.get('messages')} messages a trial of "
        f"{format_size(workload.get('message_bytes', 0))}, {spacing} at {arrival.get('rate_hz')} /s, to "
        f"{workload.get('subscribers', 1)} waiting; given up after {format_duration(workload.get('timeout_ns', 0))}"
        f"{buffer}"
    )
