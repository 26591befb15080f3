"""Times between messages of each arrival process, and of each kind of workload."""

from __future__ import annotations

import pytest

from wirelab.schema import (
    Bursts,
    Closed,
    Fixed,
    NewConnection,
    PageIdentity,
    PageLoads,
    Periodic,
    Poisson,
    PubSub,
    Stream,
    Telemetry,
)
from wirelab.schema.workload import ArrivalSpec, OpenLoop

S = 10**9
HOURLY = Bursts(interval_ns=3600 * S, rate_hz=2, duration_ns=10 * S)


def telemetry(arrival: ArrivalSpec) -> Telemetry:
    return Telemetry(
        message_bytes=1, exchanges=3, arrival=arrival, concurrency=1, timeout_ns=S, connection=NewConnection()
    )


def test_the_gap_of_a_workload_is_the_mean_time_between_messages_of_a_client() -> None:
    gaps = {
        Fixed(rate_hz=2): S / 2,
        Poisson(rate_hz=0.1): 10 * S,
        Periodic(interval_ns=600 * S, jitter_ns=5): 600 * S,
        HOURLY: 180 * S,
        Closed(): None,
    }
    assert {arrival: telemetry(arrival).gap_ns for arrival in gaps} == gaps
    pubsub = PubSub(message_bytes=12, messages=2, arrival=Periodic(interval_ns=600 * S), timeout_ns=S)
    assert pubsub.gap_ns == 600 * S
    stream = Stream(message_bytes=12, messages=2, rate_hz=25, timeout_ns=5, playout_delay_ns=6)
    assert stream.gap_ns == S / 25
    page = PageIdentity(name="one", sha256="0" * 64, resources=1, body_bytes=1)
    assert PageLoads(loads=2, timeout_ns=S, page=page).gap_ns is None


@pytest.mark.parametrize(
    ("rate_hz", "size"),
    # 10 s x 0.3 /s is 3, although no float is 0.3.
    [(2, 20), (0.3, 3), (0.25, 3), (0.01, 1)],
)
def test_a_burst_has_the_messages_that_begin_in_it(rate_hz: float, size: int) -> None:
    assert Bursts(interval_ns=3600 * S, rate_hz=rate_hz, duration_ns=10 * S).size == size


def test_the_pause_between_bursts_begins_with_the_last_message() -> None:
    assert HOURLY.pause_ns == (3600 - 9.5) * S


@pytest.mark.parametrize(
    ("arrival", "messages", "span_s"),
    [
        (Fixed(rate_hz=2), 3, 1.5),
        (Periodic(interval_ns=600 * S), 144, 86_400),
        (HOURLY, 1, 3600),
        (HOURLY, 20, 3600),
        (HOURLY, 21, 7200),
    ],
)
def test_the_last_message_has_a_gap_as_well(arrival: OpenLoop, messages: int, span_s: float) -> None:
    assert arrival.span_ns(messages) == span_s * S


def test_within_a_time_at_most_whole_bursts_and_the_beginning_of_one_are_due() -> None:
    assert [HOURLY.most_within(seconds * S) for seconds in (1, 60, 3600, 3601, 7300)] == [2, 20, 20, 22, 60]
    assert Periodic(interval_ns=600 * S).most_within(601 * S) == 2
