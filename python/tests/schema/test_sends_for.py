"""How long the endpoints of each kind of workload send."""

from __future__ import annotations

import pytest

from wirelab.schema import (
    Bursts,
    Closed,
    IdleStart,
    NewConnection,
    PageIdentity,
    PageLoads,
    Periodic,
    PubSub,
    Stream,
    Telemetry,
)
from wirelab.schema.sends_for import sends_for_ns
from wirelab.schema.workload import ArrivalSpec

S = 10**9
HOUR = 3600 * S
BURSTS = Bursts(interval_ns=HOUR, rate_hz=2, duration_ns=10 * S)
"""20 messages each."""


@pytest.mark.parametrize(
    ("arrival", "sends_ns"),
    [(Periodic(interval_ns=HOUR), 24 * HOUR), (BURSTS, 2 * HOUR), (IdleStart(interval_ns=HOUR), 24 * HOUR)],
)
def test_the_last_message_has_a_gap_and_bursts_have_whole_intervals(arrival: ArrivalSpec, sends_ns: int) -> None:
    workload = Telemetry(
        message_bytes=1, exchanges=24, arrival=arrival, concurrency=1, timeout_ns=S, connection=NewConnection()
    )
    assert sends_for_ns(workload) == sends_ns


def test_a_publisher_sends_for_its_messages() -> None:
    assert sends_for_ns(PubSub(message_bytes=1, messages=3, arrival=Periodic(interval_ns=HOUR), timeout_ns=S)) == (
        3 * HOUR
    )
    assert sends_for_ns(Stream(message_bytes=1, messages=50, rate_hz=25, timeout_ns=S, playout_delay_ns=S)) == 2 * S


def test_where_messages_follow_one_another_nothing_says_how_long_it_sends() -> None:
    closed = Telemetry(
        message_bytes=1, exchanges=3, arrival=Closed(), concurrency=1, timeout_ns=S, connection=NewConnection()
    )
    page = PageIdentity(name="one", sha256="0" * 64, resources=1, body_bytes=1)
    assert sends_for_ns(closed) is None
    assert sends_for_ns(PageLoads(loads=2, timeout_ns=S, page=page)) is None
