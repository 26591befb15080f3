"""A rough guess of how long an exchange takes, for a plan's minutes and for nothing else.

Round trips of the stack's handshakes and of the request, transmission at the link's rate, waking the radio, and what
lost packets cost: each round trip is repeated after a timer that doubles, 1 s for the first packet of a connection
(RFC 6298 section 2.1, RFC 9002 section 6.2.2) and at least 200 ms afterwards (Linux's smallest retransmission timeout).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, log2

from wirelab.experiment.expected_link import delay_ns, loss, medium_loss, medium_ns, outage_ns, sending_ns, waking_ns
from wirelab.experiment.expected_traffic import queueing_ns
from wirelab.experiment.scenario import Scenario
from wirelab.schema import (
    Closed,
    Deliver,
    ImpairmentSpec,
    Kept,
    Notify,
    PageLoads,
    RequestResponse,
    StackDescription,
    Stream,
)
from wirelab.schema.topology import stagger_ns

FIRST_TIMER_NS = 10**9
LEAST_TIMER_NS = 2 * 10**8
HEADER_BYTES = 60
CSM_BASE_BYTES = 1024
"""The longest body of a message of 1152 bytes, which leaves before the server's CSM is here (RFC 8323, 5.3.1)."""
PROCESSING_NS = 10**6
INITIAL_WINDOW_BYTES = 14_480
"""Ten segments (RFC 6928)."""
SEGMENT_BYTES = 1448
H2_WINDOW_BYTES = 65_535
"""RFC 9113, section 6.9.2."""
H2_STACKS = frozenset({"h2", "h2c"})
STREAM_WINDOWS, CONNECTION_WINDOWS = ("initial-window-size", "stream-window"), ("connection-window", "send-window")
"""Settings of HTTP/2 and HTTP/3 that say how much may be under way on a stream, and on a connection."""
STREAMS = "max-concurrent-streams"
WINDOW_NS = 2 * 10**5
"""CPU time of both ends for each window of a stream that is filled and given back: 5.7 s for the 27,344 of 256 bytes in
7 MB, in a build without optimisation.
"""
ONE_AT_A_TIME = frozenset({"http1", "https1"})
"""Of which a connection carries one exchange at a time."""
CONNECTIONS_TO_A_HOST = 6
"""That a browser opens where a connection carries one exchange at a time."""
HOLDS_BACK = "devtools-latency"
"""A browser's own setting: milliseconds before each response."""
REQUEST_BYTES = 100
"""Of a resource of a page, coded by a protocol that codes fields."""
PATIENCE_NS = 3600 * 10**9
TRIAL_OVERHEAD_NS = 3 * 10**8
"""Starting and ending the endpoints of a trial."""


def expected_exchange_ns(scenario: Scenario, stack: StackDescription) -> int:
    """Time that one exchange takes in a closed loop, on average."""
    workload = scenario.workload
    if isinstance(workload, Notify | Stream):
        return _expected_message_ns(scenario, workload)
    if isinstance(workload, PageLoads):
        return _expected_load_ns(scenario, workload, stack)
    each = [_expected_request_ns(scenario, workload, stack, size) for size in workload.downloads]
    return sum(each) // len(each)


def patient_exchange_ns(scenario: Scenario, stack: StackDescription) -> int:
    """The same if nobody gave up sooner than after `PATIENCE_NS`."""
    timeout_ns = max(scenario.workload.timeout_ns, PATIENCE_NS)
    patient = scenario.workload.model_copy(update={"timeout_ns": timeout_ns})
    return expected_exchange_ns(replace(scenario, workload=patient), stack)


def _expected_request_ns(
    scenario: Scenario, workload: RequestResponse | Deliver, stack: StackDescription, download: int
) -> int:
    bodies = (workload.upload_bytes, download)
    trips = _request_trips(scenario, stack, bodies) + (
        0 if isinstance(workload.connection, Kept) else _handshake_trips(scenario, stack)
    )
    handled_ns = sum(_handling_ns(scenario, body) for body in bodies)
    return min(_trips_ns(scenario, workload, trips, bodies) + handled_ns, workload.timeout_ns)


def _expected_load_ns(scenario: Scenario, workload: PageLoads, stack: StackDescription) -> int:
    """The document, then what it names in as many rounds as there are connections for, or as their windows take."""
    page, others = workload.page, workload.page.resources - 1
    apart = scenario.stack in ONE_AT_A_TIME
    connections = max(1, min(others, CONNECTIONS_TO_A_HOST)) if apart else 1
    streams = _given(scenario, STREAMS, others)
    rounds = 1 + (ceil(others / connections) if apart else ceil(others / max(1, min(others, streams))))
    # Where nothing is given, windows are as wide as a browser's.
    stream_window = _least_given(scenario, STREAM_WINDOWS, 2 * page.body_bytes)
    connection_window = _least_given(scenario, CONNECTION_WINDOWS, page.body_bytes)
    credit = min(connection_window, max(1, min(others, streams)) * stream_window)
    windows = max(_doubled_windows(page.body_bytes // connections), ceil(page.body_bytes / max(1, credit)))
    handled_ns = _handling_ns(scenario, page.body_bytes)
    opened = _handshake_trips(scenario, stack) * (2 if connections > 1 else 1)
    bodies = (REQUEST_BYTES * page.resources, page.body_bytes)
    held_back_ns = rounds * max(
        (int(each.get(HOLDS_BACK, 0)) for each in scenario.program_settings.values()), default=0
    )
    trips_ns = _trips_ns(scenario, workload, opened + max(rounds, windows), bodies)
    return min(trips_ns + handled_ns + held_back_ns * 10**6, workload.timeout_ns)


def _given(scenario: Scenario, setting: str, otherwise: int) -> int:
    """A setting's number; `otherwise` where it is left to the endpoints, or is none of the stack's."""
    value = scenario.settings.get(setting)
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _least_given(scenario: Scenario, settings: Sequence[str], otherwise: int) -> int:
    """The least of those that are given."""
    return min(filter(None, (_given(scenario, setting, 0) for setting in settings)), default=otherwise)


def _handling_ns(scenario: Scenario, body: int) -> int:
    """What the windows of a stream cost both ends where they are given; wider ones cost next to nothing."""
    return body // max(1, _least_given(scenario, STREAM_WINDOWS, 2 * body)) * WINDOW_NS


def _trips_ns(
    scenario: Scenario, workload: RequestResponse | Deliver | PageLoads, trips: int, bodies: tuple[int, int]
) -> int:
    """Round trips that carry these bodies up and down, with what their lost packets cost."""
    link, timeout_ns = scenario.link, workload.timeout_ns
    exchanges, at_once, gap_ns = _pace(workload)
    first = min(1.0, at_once / exchanges)
    ways = (link.uplink, link.downlink)
    turns = max(trips, 1)
    sizes = [body + turns * HEADER_BYTES for body in bodies]
    rtt_ns = sum(delay_ns(way) for way in ways) + queueing_ns(scenario)
    total = PROCESSING_NS + trips * rtt_ns + waking_ns(link.radio, gap_ns, rtt_ns + PROCESSING_NS, turns, first)
    for way, size in zip(ways, sizes, strict=True):
        total += sending_ns(way, size, turns) + medium_ns(link.medium, size, turns) + outage_ns(way)
    packets = turns * exchanges
    together = max(1, max(bodies) // (SEGMENT_BYTES * turns))
    for opens, times in ((trips > 1, min(trips, 1)), (False, max(trips - 1, 0))):
        timer = _timer_ns(scenario, first=opens, rtt_ns=rtt_ns)
        most = timeout_ns / timer
        on_air = medium_loss(link.medium)
        waits = sum(_timers(way, most, packets, together) + _waits(on_air, on_air, most) for way in ways)
        total += times * round(timer * waits)
    return min(total, timeout_ns)


def _pace(workload: RequestResponse | Deliver | PageLoads) -> tuple[int, int, int]:
    """Exchanges of a client, how many begin together, and the time between them."""
    if isinstance(workload, PageLoads):
        return workload.loads, 1, 0
    if isinstance(workload.arrival, Closed):
        return workload.exchanges, workload.concurrency, 0
    return workload.exchanges, 1, round(1e9 / workload.arrival.rate_hz)


def expected_trial_ns(exchange_ns: int, scenario: Scenario) -> int:
    """Time that one trial holds its lane, with that until background traffic is there."""
    return stagger_ns(scenario.traffic) + _expected_exchanges_ns(exchange_ns, scenario)


def _expected_exchanges_ns(exchange_ns: int, scenario: Scenario) -> int:
    workload = scenario.workload
    if isinstance(workload, Notify | Stream):
        return TRIAL_OVERHEAD_NS + round(workload.messages / workload.rate_hz * 1e9) + exchange_ns
    if isinstance(workload, PageLoads):
        return TRIAL_OVERHEAD_NS + exchange_ns * workload.loads
    places = min(workload.concurrency, workload.exchanges)
    if isinstance(workload.connection, Kept) and scenario.stack in ONE_AT_A_TIME:
        places = min(places, workload.connection.connections)
    one_after_another = exchange_ns * workload.exchanges // places
    if isinstance(workload.arrival, Closed):
        return TRIAL_OVERHEAD_NS + one_after_another
    arrivals_ns = round(workload.exchanges / workload.arrival.rate_hz * 1e9)
    return TRIAL_OVERHEAD_NS + max(arrivals_ns + exchange_ns, one_after_another)


def _expected_message_ns(scenario: Scenario, workload: Notify | Stream) -> int:
    """Down the link once, with what its loss costs."""
    way, size = scenario.link.downlink, workload.message_bytes + HEADER_BYTES
    total = PROCESSING_NS + delay_ns(way) + sending_ns(way, size, 1) + medium_ns(scenario.link.medium, size, 1)
    total += queueing_ns(scenario)
    timer = max(LEAST_TIMER_NS, 2 * sum(delay_ns(each) for each in (scenario.link.uplink, way)))
    total += outage_ns(way) + round(timer * _timers(way, workload.timeout_ns / timer, workload.messages))
    return min(total, workload.timeout_ns)


def _request_trips(scenario: Scenario, stack: StackDescription, bodies: Sequence[int]) -> int:
    """One, or one for each block of CoAP's block-wise transfer or each window of a long body, two of MQTT's QoS 2, none
    where nobody answers.
    """
    settings = scenario.settings
    if settings.get("qos") == 0 or settings.get("delivery") == "at-most-once":
        return 0
    if settings.get("qos") == 2:
        return 2
    if stack.transport != "udp" or "block-size" not in settings:
        return max(_window_trips(scenario, body) for body in bodies)
    block = int(settings["block-size"])
    return sum(max(1, -(-body // block)) for body in bodies) - 1


def _window_trips(scenario: Scenario, body: int) -> int:
    """Windows that a body takes: the initial one and twice as much after each round trip (RFC 5681, section 3.1), but
    no more than flow control allows, as it is given or, over HTTP/2, as it is by default.
    """
    wide = H2_WINDOW_BYTES if scenario.stack in H2_STACKS else max(1, body)
    window = min(_least_given(scenario, settings, wide) for settings in (STREAM_WINDOWS, CONNECTION_WINDOWS))
    return max(_doubled_windows(body), body // window)


def _doubled_windows(body: int) -> int:
    """Those where nothing but congestion control limits a sender, as browsers' wide windows have it."""
    return max(1, ceil(log2(1 + body / INITIAL_WINDOW_BYTES)))


def _handshake_trips(scenario: Scenario, stack: StackDescription) -> int:
    """Of the transport, of its security, and of the protocol above them."""
    return _secure_trips(scenario, stack) + _session_trips(scenario)


def _secure_trips(scenario: Scenario, stack: StackDescription) -> int:
    if "dtls-cookie" in scenario.settings:
        return 3 if scenario.settings["dtls-cookie"] else 2
    if stack.transport == "udp":
        return 1 if stack.secure else 0
    if not stack.secure:
        return 1
    return 3 if scenario.settings.get("tls") == "1.2" else 2


def _session_trips(scenario: Scenario) -> int:
    """CONNECT of MQTT; of AMQP open, begin and attach, and two of SASL; of CoAP over TCP the server's CSM, which a
    message longer than the base waits for.
    """
    settings = scenario.settings
    if "qos" in settings:
        return 1
    if "sasl" in settings:
        return 3 if settings["sasl"] == "none" else 5
    return int("max-message-size" in settings and scenario.workload.upload_bytes > CSM_BASE_BYTES)


def _timer_ns(scenario: Scenario, *, first: bool, rtt_ns: int) -> int:
    """After how long a lost packet is sent again for the first time."""
    if (ack_timeout_ms := scenario.settings.get("ack-timeout")) is not None:
        return max(int(ack_timeout_ms) * 10**6, 1)
    return FIRST_TIMER_NS if first else max(LEAST_TIMER_NS, 2 * rtt_ns)


def _timers(way: Sequence[ImpairmentSpec], most: float, packets: int, together: int = 1) -> float:
    """How many times the first timer one of a trial's packets waits, on average: repetition n waits 2^n timers, none
    beyond `most`. Of several on their way `together` one waits if its repetition is lost too.
    """
    total = 0.0
    for stage in way:
        first, again = loss(stage, packets)
        total += _waits(max(first, min(1.0, together * first * (1 - again) * again)), again, most)
    return total


def _waits(first: float, again: float, most: float) -> float:
    """In first timers, where a packet is lost with the one probability and its repetitions with the other."""
    return sum(first * (2 * again) ** repetition for repetition in range(int(log2(max(most, 1))) + 1))
