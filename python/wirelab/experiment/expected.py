"""A rough guess of how long an exchange takes, for a plan's minutes and for nothing else.

Round trips of the stack's handshakes and of the request, transmission at the link's rate, and what lost packets cost:
each round trip is repeated after a timer that doubles, 1 s for the first packet of a connection (RFC 6298 section 2.1,
RFC 9002 section 6.2.2) and at least 200 ms afterwards (Linux's smallest retransmission timeout).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log2

from wirelab.experiment.scenario import Scenario
from wirelab.schema import (
    Closed,
    Delay,
    Fresh,
    GilbertElliott,
    GilbertElliottTime,
    ImpairmentSpec,
    Loss,
    Rate,
    StackDescription,
)

FIRST_TIMER_NS = 10**9
LEAST_TIMER_NS = 2 * 10**8
HEADER_BYTES = 60
PROCESSING_NS = 10**6
TRIAL_OVERHEAD_NS = 3 * 10**8
"""Starting and ending the endpoints of a trial."""


def expected_exchange_ns(scenario: Scenario, stack: StackDescription) -> int:
    """Time that one exchange takes in a closed loop, on average."""
    ways = (scenario.link.uplink, scenario.link.downlink)
    rtt_ns = sum(_delay_ns(way) for way in ways)
    trips = _handshake_trips(scenario, stack) if isinstance(scenario.workload.connection, Fresh) else 0
    workload = scenario.workload
    total = PROCESSING_NS + (trips + 1) * rtt_ns
    for way, size in zip(ways, (workload.upload_bytes, workload.download_bytes), strict=True):
        total += _sending_ns(way, size + (trips + 1) * HEADER_BYTES)
    for trip in range(trips + 1):
        timer = FIRST_TIMER_NS if trip == 0 and trips else max(LEAST_TIMER_NS, 2 * rtt_ns)
        total += round(timer * sum(_timers(way, workload.timeout_ns / timer) for way in ways))
    return min(total, workload.timeout_ns)


def expected_trial_ns(exchange_ns: int, scenario: Scenario) -> int:
    """Time that one trial holds its lane."""
    workload = scenario.workload
    if isinstance(workload.arrival, Closed):
        places = min(workload.concurrency, workload.exchanges)
        return TRIAL_OVERHEAD_NS + exchange_ns * workload.exchanges // places
    return TRIAL_OVERHEAD_NS + round(workload.exchanges / workload.arrival.rate_hz * 1e9) + exchange_ns


def _handshake_trips(scenario: Scenario, stack: StackDescription) -> int:
    if stack.transport == "udp":
        return 1 if stack.secure else 0
    if not stack.secure:
        return 1
    return 3 if scenario.settings.get("tls") == "1.2" else 2


def _delay_ns(way: Iterable[ImpairmentSpec]) -> int:
    return sum(stage.delay_ns for stage in way if isinstance(stage, Delay))


def _sending_ns(way: Iterable[ImpairmentSpec], size: int) -> int:
    return sum(size * 8 * 10**9 // stage.rate_bps for stage in way if isinstance(stage, Rate))


def _timers(way: Iterable[ImpairmentSpec], most: float) -> float:
    """How many times the first timer a packet waits, on average: repetition n waits 2^n timers, none beyond `most`."""
    total = 0.0
    for stage in way:
        first, again = _loss(stage)
        total += sum(first * (2 * again) ** repetition for repetition in range(int(log2(max(most, 1))) + 1))
    return total


def _loss(stage: ImpairmentSpec) -> tuple[float, float]:
    """Probability that a packet is lost, and that its repetition is lost too.

    A burst that counts packets is worn down by the repetitions that it causes: what a packet meets is its beginning.
    """
    match stage:
        case Loss(probability=probability):
            return probability, probability
        case GilbertElliott(p=p, r=r, bad_loss=bad, good_loss=good) if r + bad > 0:
            again = bad * (1 - r)
            met = bad / (1 - (1 - bad) * (1 - r))
            return p * met + good, again
        case GilbertElliottTime(good_ns=good_ns, bad_ns=bad_ns, bad_loss=bad, good_loss=good):
            lost = (bad_ns * bad + good_ns * good) / (good_ns + bad_ns)
            return lost, lost
    return 0.0, 0.0
