"""A workload of a plan in words. Makes no section."""

from __future__ import annotations

from wirelab.schema import Device, WorkloadSpec
from wirelab.schema.workload import (
    ArrivalSpec,
    Bursts,
    CheckIn,
    Closed,
    Connected,
    ConnectionPolicy,
    Fixed,
    IdleStart,
    NewConnection,
    OpenLoop,
    PageLoads,
    Periodic,
    Poisson,
    Poll,
    PubSub,
    Resumed,
    Retry,
    Stream,
    Telemetry,
    Wait,
)
from wirelab.site import count
from wirelab.units import format_duration, format_share, format_size


def workload_words(workload: WorkloadSpec) -> str:
    """A workload in words."""
    if isinstance(workload, PubSub | Stream):
        return _pubsub_words(workload)
    if isinstance(workload, PageLoads):
        return _page_words(workload)
    if isinstance(workload, Telemetry):
        to = "" if workload.publish is None else f" to {workload.publish.topic}"
        content = f"telemetry messages of {format_size(workload.message_bytes)}{to}"
    else:
        downloads = " and ".join(map(format_size, workload.downloads))
        turns = " in turn" * (len(workload.downloads) > 1)
        content = f"upload {format_size(workload.upload_bytes)}, download {downloads}{turns}"
        if (request := workload.request) is not None:
            body = f" with a body of {format_size(workload.upload_bytes)}" if workload.upload_bytes else ""
            content = f"{request.method} {request.target}{body}"
    of_each = f" of each of {workload.clients} clients" if workload.clients > 1 else ""
    return (
        f"{workload.exchanges} exchanges a trial{of_each}, {content}; {_arrival_words(workload.arrival)}, "
        f"{workload.concurrency} concurrent; {_connection_words(workload.connection)}; "
        f"time-out {format_duration(workload.timeout_ns)}{_device_words(workload.device)}"
        f"{_retry_words(workload.retry)}"
    )


def _retry_words(retry: Retry | None) -> str:
    if retry is None:
        return ""
    first, longest = format_duration(retry.first_ns), format_duration(retry.longest_ns)
    grows = f", each further one {retry.factor_percent / 100:g} times as long, at most {longest}"
    back_off = f"{first}{grows * (retry.factor_percent > 100 and retry.longest_ns > retry.first_ns)}"
    jitter = f", up to {format_share(retry.jitter_percent / 200)} longer or shorter" if retry.jitter_percent else ""
    return (
        f"; failed messages are retried in order after a back-off of {back_off}{jitter}, "
        f"kept for {format_duration(retry.keep_ns)}, at most {count(retry.backlog, 'message')} at a time"
    )


def _device_words(device: Device | None) -> str:
    if device is None:
        return ""
    parts = {
        "clients begin within {}": device.start_phase_ns,
        "compute {} for each message": device.message_ns,
        "compute {} for each handshake": device.handshake_ns,
    }
    words = [text.format(format_duration(ns)) for text, ns in parts.items() if ns]
    if device.drift_ppb:
        words.append(f"oscillators within {device.drift_ppb / 1000:g} ppm")
    return f"; {', '.join(words)}"


def _arrival_words(arrival: ArrivalSpec) -> str:
    match arrival:
        case Closed():
            return "the next starts when one ends"
        case Fixed() | Poisson():
            return f"{arrival.process} arrivals at {arrival.rate_hz:.4g} /s"
        case Periodic() | Bursts():
            return _interval_words(arrival)
        case IdleStart():
            interval = format_duration(arrival.interval_ns)
            return f"idle starts: one every {interval} on the link's clock, which is put forward in between"


def _interval_words(arrival: Periodic | Bursts) -> str:
    interval = format_duration(arrival.interval_ns)
    if isinstance(arrival, Bursts):
        return f"bursts of {arrival.size} at {arrival.rate_hz:.4g} /s, one every {interval}"
    jitter = f", up to {format_duration(arrival.jitter_ns / 2)} earlier or later" if arrival.jitter_ns else ""
    return f"one every {interval}{jitter}"


def _connection_words(policy: ConnectionPolicy) -> str:
    if isinstance(policy, NewConnection):
        return "a new connection for each"
    if isinstance(policy, Resumed):
        return "a new connection for each that resumes the last session"
    return f"persistent connections: {policy.connections}"


def _page_words(workload: PageLoads) -> str:
    page = workload.page
    return (
        f"{count(workload.loads, 'load')} a trial of the page {page.name} ({count(page.resources, 'resource')}, "
        f"{format_size(page.body_bytes)}), one after another, each with new connections and an empty cache; "
        f"time-out {format_duration(workload.timeout_ns)}"
    )


def _pace_words(published: OpenLoop) -> str:
    match published:
        case Fixed():
            return f"evenly spaced at {published.rate_hz} /s"
        case Poisson():
            return f"Poisson at {published.rate_hz} /s"
        case Periodic() | Bursts():
            return _interval_words(published)


def wait_words(wait: Wait) -> str:
    """How a subscriber waits, such as `checks in every 10 min`."""
    match wait:
        case Connected():
            return "stays connected"
        case CheckIn():
            return f"checks in every {format_duration(wait.every_ns)}, stays {format_duration(wait.stay_ns)}"
        case Poll():
            return f"asks every {format_duration(wait.every_ns)}"


def _waiting_words(workload: PubSub | Stream) -> str:
    wait = getattr(workload, "wait", Connected())
    return "" if wait == Connected() else f", each of which {wait_words(wait)}"


def _pubsub_words(workload: PubSub | Stream) -> str:
    buffer = ""
    if isinstance(workload, Stream):
        buffer = f"; the player buffers {format_duration(workload.playout_delay_ns)}"
    return (
        f"{workload.kind}: {workload.messages} messages a trial of {format_size(workload.message_bytes)}, "
        f"{_pace_words(workload.published)}, to {workload.subscribers} subscribers{_waiting_words(workload)}; "
        f"time-out {format_duration(workload.timeout_ns)}{buffer}"
    )
