"""A rough guess of how long an exchange takes, for a plan's minutes and for nothing else.

Round trips of the stack's handshakes and of the request, transmission at the link's rate, waking the radio, and what
lost packets cost: each round trip is repeated after a timer that doubles, 1 s for the first packet of a connection
(RFC 6298 section 2.1, RFC 9002 section 6.2.2) and at least 200 ms afterwards (Linux's smallest retransmission timeout).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from wirelab.experiment.expected_link import delay_ns, loss, medium_ns, outage_ns, sending_ns, waking_ns
from wirelab.experiment.scenario import Scenario
from wirelab.schema import Closed, ImpairmentSpec, Kept, Notify, StackDescription, Stream
from wirelab.schema.topology import stagger_ns

FIRST_TIMER_NS = 10**9
LEAST_TIMER_NS = 2 * 10**8
HEADER_BYTES = 60
PROCESSING_NS = 10**6
TRIAL_OVERHEAD_NS = 3 * 10**8
"""Starting and ending the endpoints of a trial."""


def expected_exchange_ns(scenario: Scenario, stack: StackDescription) -> int:
    """Time that one exchange takes in a closed loop, on average."""
    link, workload = scenario.link, scenario.workload
    if isinstance(workload, Notify | Stream):
        return _expected_message_ns(scenario, workload)
    ways = (link.uplink, link.downlink)
    bodies = (workload.upload_bytes, workload.download_bytes)
    trips = _request_trips(scenario, stack, bodies) + (
        0 if isinstance(workload.connection, Kept) else _handshake_trips(scenario, stack)
    )
    sizes = (workload.upload_bytes + trips * HEADER_BYTES, workload.download_bytes + trips * HEADER_BYTES)
    rtt_ns = sum(delay_ns(way) for way in ways)
    gap_ns = 0 if isinstance(workload.arrival, Closed) else round(1e9 / workload.arrival.rate_hz)
    at_once = workload.concurrency if isinstance(workload.arrival, Closed) else 1
    first = min(1.0, at_once / workload.exchanges)
    total = PROCESSING_NS + trips * rtt_ns + waking_ns(link.radio, gap_ns, rtt_ns + PROCESSING_NS, trips, first)
    for way, size in zip(ways, sizes, strict=True):
        total += sending_ns(way, size, trips) + medium_ns(link.medium, size, trips) + outage_ns(way)
    packets = trips * workload.exchanges
    for trip in range(trips):
        timer = FIRST_TIMER_NS if trip == 0 and trips > 1 else max(LEAST_TIMER_NS, 2 * rtt_ns)
        total += round(timer * sum(_timers(way, workload.timeout_ns / timer, packets) for way in ways))
    return min(total, workload.timeout_ns)


def expected_trial_ns(exchange_ns: int, scenario: Scenario) -> int:
    """Time that one trial holds its lane, with that until background traffic is there."""
    return stagger_ns(scenario.traffic) + _expected_exchanges_ns(exchange_ns, scenario)


def _expected_exchanges_ns(exchange_ns: int, scenario: Scenario) -> int:
    workload = scenario.workload
    if isinstance(workload, Notify | Stream):
        return TRIAL_OVERHEAD_NS + round(workload.messages / workload.rate_hz * 1e9) + exchange_ns
    if isinstance(workload.arrival, Closed):
        places = min(workload.concurrency, workload.exchanges)
        return TRIAL_OVERHEAD_NS + exchange_ns * workload.exchanges // places
    return TRIAL_OVERHEAD_NS + round(workload.exchanges / workload.arrival.rate_hz * 1e9) + exchange_ns


def _expected_message_ns(scenario: Scenario, workload: Notify | Stream) -> int:
    """Down the link once, with what its loss costs."""
    way, size = scenario.link.downlink, workload.message_bytes + HEADER_BYTES
    total = PROCESSING_NS + delay_ns(way) + sending_ns(way, size, 1) + medium_ns(scenario.link.medium, size, 1)
    timer = max(LEAST_TIMER_NS, 2 * sum(delay_ns(each) for each in (scenario.link.uplink, way)))
    total += outage_ns(way) + round(timer * _timers(way, workload.timeout_ns / timer, workload.messages))
    return min(total, workload.timeout_ns)


def _request_trips(scenario: Scenario, stack: StackDescription, bodies: Sequence[int]) -> int:
    """One, or one for each block of CoAP's block-wise transfer."""
    if stack.transport != "udp" or "block-size" not in scenario.settings:
        return 1
    block = int(scenario.settings["block-size"])
    return sum(max(1, -(-body // block)) for body in bodies) - 1


def _handshake_trips(scenario: Scenario, stack: StackDescription) -> int:
    if "dtls-cookie" in scenario.settings:
        return 3 if scenario.settings["dtls-cookie"] else 2
    if stack.transport == "udp":
        return 1 if stack.secure else 0
    if not stack.secure:
        return 1
    return 3 if scenario.settings.get("tls") == "1.2" else 2


def _timers(way: Sequence[ImpairmentSpec], most: float, packets: int) -> float:
    """How many times the first timer one of a trial's packets waits, on average: repetition n waits 2^n timers, none
    beyond `most`.
    """
    total = 0.0
    for stage in way:
        first, again = loss(stage, packets)
        total += sum(first * (2 * again) ** repetition for repetition in range(int(log2(max(most, 1))) + 1))
    return total
