"""What an exchange of a scenario asks of its path, by workload, settings and the protocol's descriptor, and with
`formula` how long that takes. Knows no protocol's name.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from wirelab.experiment.duration.congestion import Control
from wirelab.experiment.duration.formula import (
    HEADER_BYTES,
    LEAST_TIMER_NS,
    PROCESSING_NS,
    Flow,
    Limit,
    Parts,
    exchange_time,
    waits,
)
from wirelab.experiment.duration.path import path
from wirelab.experiment.duration.traffic import queueing_ns
from wirelab.experiment.grid.scenario import Scenario
from wirelab.experiment.link.table import LANE_MTU
from wirelab.schema import (
    AddressFamily,
    Bursts,
    Closed,
    PageLoads,
    Persistent,
    ProtocolDescription,
    PubSub,
    RequestResponse,
    Stream,
    Telemetry,
    WorkloadSpec,
)
from wirelab.schema.describe import RoundTrips, Timing

CONNECTIONS_TO_A_HOST = 6
"""That a browser opens where a connection carries one exchange at a time."""
REQUEST_BYTES = 100
"""Of a resource of a page, coded by a protocol that codes fields."""
HOLDS_BACK = "devtools-latency"
"""A browser's own setting: milliseconds before each response."""
IPV6_MORE_BYTES = 20
"""Of a header more than of IPv4's (RFC 8200, section 3)."""


def exchange_parts(scenario: Scenario, protocol: ProtocolDescription) -> Parts:
    """Of one exchange in a closed loop, on average: a request, a page's load, or a message that a client waits for.

    Of several sizes in turn those of the largest.
    """
    workload = scenario.workload
    if isinstance(workload, PageLoads):
        return _load(scenario, workload, protocol.timing)
    if isinstance(workload, PubSub | Stream):
        return _message(scenario, workload)
    return _request(scenario, workload, protocol.timing, max(workload.downloads))


def expected_exchange_ns(scenario: Scenario, protocol: ProtocolDescription) -> int:
    """Time that one exchange takes; of several sizes in turn their mean."""
    workload = scenario.workload
    if not isinstance(workload, RequestResponse | Telemetry):
        return exchange_parts(scenario, protocol).total_ns
    each = [_request(scenario, workload, protocol.timing, size).total_ns for size in workload.downloads]
    return sum(each) // len(each)


def _message(scenario: Scenario, workload: PubSub | Stream) -> Parts:
    """Down the link once."""
    way = path(scenario.facts[0], workload.messages).downlink
    once_ns = way.delay_ns + round(way.sending_ns(workload.message_bytes + HEADER_BYTES, 1))
    rtt_ns = path(scenario.facts[0]).rtt_ns
    timer_ns = max(LEAST_TIMER_NS, 2 * rtt_ns)
    recovery_ns = round(timer_ns * waits(way, workload.timeout_ns / timer_ns))
    # Until the next contact, on average.
    waiting_ns = workload.wait.every_ns // 2 if isinstance(workload, PubSub) else 0
    fixed_ns = PROCESSING_NS + way.pause_ns + queueing_ns(scenario) + waiting_ns
    return Parts(0, rtt_ns, once_ns, recovery_ns, fixed_ns, workload.timeout_ns, Limit.RATE)


def _request(scenario: Scenario, workload: RequestResponse | Telemetry, timing: Timing, download: int) -> Parts:
    bodies = (workload.upload_bytes, download)
    trips = _round_trips(scenario, timing)
    opening = 0 if isinstance(workload.connection, Persistent) else trips.transport + trips.security + trips.session
    if opening and timing.unannounced_bytes is not None and workload.upload_bytes > timing.unannounced_bytes:
        opening += 1
    if timing.block_setting in scenario.settings and trips.request:
        block_bytes = int(scenario.settings[str(timing.block_setting)])
        blocks = sum(max(1, ceil(body / block_bytes)) for body in bodies) - 1
        return _time(scenario, timing, Flow(bodies, opening, blocks))
    request = Flow(
        bodies=bodies,
        opening=opening,
        asking=trips.request,
        slow_start_bytes=max(bodies) if trips.request else 0,
        window_bytes=_window(scenario, timing, wide=False),
        windows=sum(body // (_stream_window(scenario, timing) or body + 1) for body in bodies),
    )
    return _time(scenario, timing, request)


def _load(scenario: Scenario, workload: PageLoads, timing: Timing) -> Parts:
    """The document, then what it names in as many rounds as there are connections or streams for."""
    page, others, flow = workload.page, workload.page.resources - 1, timing.flow_control
    connections = connections_to_server(scenario, timing)
    streams = others if flow is None else _given(scenario, flow.streams_setting) or others
    at_once = connections if timing.sequential else max(1, min(others, streams))
    rounds = 1 + ceil(others / at_once)
    trips = _round_trips(scenario, timing)
    held_back_ms = max((int(each.get(HOLDS_BACK, 0)) for each in scenario.program_settings.values()), default=0)
    load = Flow(
        bodies=(REQUEST_BYTES * page.resources, page.body_bytes),
        opening=(trips.transport + trips.security + trips.session) * (2 if connections > 1 else 1),
        asking=rounds,
        slow_start_bytes=page.body_bytes // connections,
        window_bytes=_window(scenario, timing, wide=True, at_once=at_once),
        windows=page.body_bytes // (_stream_window(scenario, timing) or page.body_bytes + 1),
        connections=connections,
        held_back_ns=rounds * (held_back_ms * 10**6 + workload.request_delay_ns),
    )
    return _time(scenario, timing, load)


def _time(scenario: Scenario, timing: Timing, flow: Flow) -> Parts:
    exchanges, at_once, gap_ns = _pace(scenario.workload)
    timer_ms = scenario.settings.get(timing.timer_setting or "")
    paced = replace(
        flow,
        control=control(scenario, timing),
        gap_ns=gap_ns,
        first_share=min(1.0, at_once / exchanges),
        timer_ns=None if timer_ms is None else max(int(timer_ms) * 10**6, 1),
    )
    met = path(scenario.facts[0], max(flow.opening + flow.asking, 1) * exchanges)
    return exchange_time(paced, met, queueing_ns(scenario), scenario.workload.timeout_ns)


def connections_to_server(scenario: Scenario, timing: Timing) -> int:
    """How many connections a client uses at once: of a load all of them, of requests one for each under way."""
    workload = scenario.workload
    if isinstance(workload, PageLoads):
        return max(1, min(workload.page.resources - 1, CONNECTIONS_TO_A_HOST)) if timing.sequential else 1
    if isinstance(workload, PubSub | Stream):
        return 1
    if isinstance(workload.connection, Persistent):
        return min(workload.connection.connections, workload.concurrency)
    return workload.concurrency


def control(scenario: Scenario, timing: Timing) -> Control:
    """Congestion control of the scenario's connections; without one as Reno."""
    if (found := timing.congestion) is None:
        return Control()
    algorithm = scenario.congestion_control if found.setting is None else str(scenario.settings.get(found.setting))
    smaller = found.discovery is not None and scenario.settings.get(found.discovery.setting) is False
    carried = found.discovery.packet_bytes if smaller and found.discovery else found.packet_bytes
    # A full packet of QUIC fits an IPv6 link with an MTU of 1500 B, one of TCP does not.
    most = found.packet_bytes + (IPV6_MORE_BYTES if found.discovery is not None else 0)
    lacking = LANE_MTU - (scenario.link.mtu or LANE_MTU)
    lacking += IPV6_MORE_BYTES if scenario.link.family is AddressFamily.IPV6 else 0
    return Control(algorithm, max(1, min(carried, most - lacking)))


def _round_trips(scenario: Scenario, timing: Timing) -> RoundTrips:
    """With the scenario's settings."""
    changed: dict[str, int] = {
        each.part: each.round_trips for each in timing.changes if scenario.settings.get(each.setting) == each.value
    }
    return timing.round_trips.model_copy(update=changed)


def _window(scenario: Scenario, timing: Timing, *, wide: bool, at_once: int = 1) -> int | None:
    """The window of exchanges that run concurrently (`at_once`); None without a limit, `wide` for the default."""
    if (flow := timing.flow_control) is None:
        return None
    default = None if wide else flow.default_window_bytes
    stream = _stream_window(scenario, timing)
    connection = min((given for name in flow.connection_settings if (given := _given(scenario, name))), default=default)
    return min(filter(None, (default if stream is None else stream * at_once, connection)), default=None)


def _stream_window(scenario: Scenario, timing: Timing) -> int | None:
    """Of one exchange, if it is given."""
    settings = () if timing.flow_control is None else timing.flow_control.stream_settings
    return min((given for name in settings if (given := _given(scenario, name))), default=None)


def _given(scenario: Scenario, setting: str) -> int | None:
    """A setting's number; none where a word leaves it to the endpoints, or where the protocol has none."""
    value = scenario.settings.get(setting)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _pace(workload: WorkloadSpec) -> tuple[int, int, int]:
    """Exchanges of a client, how many begin together or after a pause, and the time between the others."""
    if isinstance(workload, PageLoads):
        return workload.loads, 1, 0
    if isinstance(workload, PubSub | Stream):
        return workload.messages, 1, 0
    if isinstance(workload.arrival, Closed):
        return workload.exchanges, workload.concurrency, 0
    if isinstance(arrival := workload.arrival, Bursts):
        return workload.exchanges, ceil(workload.exchanges / arrival.size), round(1e9 / arrival.rate_hz)
    return workload.exchanges, 1, round(workload.arrival.gap_ns)
