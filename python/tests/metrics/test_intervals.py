"""Which packets are whose, and the parts of a trial's time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab.metrics.intervals import DeviceClock, Logged, Part, by_client, end_of, owners, parts
from wirelab.schema import (
    Bursts,
    Closed,
    Device,
    NewConnection,
    Periodic,
    Persistent,
    Poisson,
    PubSub,
    RequestResponse,
    Resumed,
)
from wirelab.schema.workload import ArrivalSpec, ConnectionPolicy
from wirelab_energy import Packet

S = 10**9
TEN_MINUTES = Periodic(interval_ns=600 * S)


def rows(*starts: tuple[int | None, int]) -> list[dict[str, Any]]:
    return [{"client": 0, "local_port": port, "start_ns": start} for port, start in starts]


def logged(*packets: tuple[int, int | None], rested_ns: int = 0) -> list[Logged]:
    return [Logged(Packet(at, up=True, size=1), port, rested_ns) for at, port in packets]


def times(found: list[int | None], packets: list[Logged], of: int) -> list[list[int]]:
    return [
        [p.packet.time_ns for p, owner in zip(packets, found, strict=True) if owner == place] for place in range(of)
    ]


def asking(arrival: ArrivalSpec, connection: ConnectionPolicy | None = None, **more: Any) -> RequestResponse:
    return RequestResponse(
        exchanges=3, arrival=arrival, concurrency=1, timeout_ns=S, connection=connection or NewConnection(),
        upload_bytes=64, download_bytes=0, **more,
    )  # fmt: skip


def due(at_s: float, index: int = 0, **given: Any) -> dict[str, Any]:
    """A message that was sent when it was due, 1 ms after its connection was open."""
    at_ns = round(at_s * S)
    return {
        "client": 0, "index": index, "intended_start_ns": at_ns, "start_ns": at_ns,
        "request_start_ns": at_ns + S // 1000, "outcome": "completed", "connection_reused": False,
        "local_port": 1, **given,
    }  # fmt: skip


def at(*seconds: float, rested_s: float = 0) -> list[Logged]:
    return logged(*((round(each * S), 1) for each in seconds), rested_ns=round(rested_s * S))


def cut(found: list[Part]) -> list[tuple[str, int | None, float]]:
    return [(part.kind, part.place, part.start_ns / S) for part in found]


def test_a_packet_belongs_to_the_latest_exchange_of_its_connection() -> None:
    kept, packets = (
        rows((1, 100), (1, 200), (2, 150)),
        logged((90, 1), (100, 1), (160, 1), (160, 2), (200, 1), (900, 1)),
    )
    found = owners(kept, packets, by_time=False)
    assert times(found, packets, 3) == [[90, 100, 160], [200, 900], [160]]


def test_packets_of_other_connections_and_without_ports_belong_to_no_exchange() -> None:
    assert owners(rows((1, 100)), logged((100, 7), (100, None)), by_time=False) == [None, None]
    assert owners(rows((None, 100)), logged((100, None)), by_time=False) == [None]


def test_a_load_has_all_packets_of_its_time_on_any_connection() -> None:
    packets = logged((100, 1), (150, 2), (250, 1), (260, None))
    assert owners(rows((1, 100), (9, 200)), packets, by_time=True) == [0, 0, 1, 1]


def test_each_client_is_a_device() -> None:
    both = [{**row, "client": client} for client, row in enumerate(rows((1, 100), (2, 150)))]
    packets = logged((100, 1), (160, 2), (170, None))
    found = list(by_client(both, packets, owners(both, packets, by_time=False)))
    assert found == [([0], packets[:1]), ([1], packets[1:2])]
    alone = list(by_client(both[:1], packets, owners(both[:1], packets, by_time=False)))
    assert alone == [([0], packets)]


def test_the_last_message_has_its_gap() -> None:
    found = parts([due(0), due(600, 1), due(1200, 2)], asking(TEN_MINUTES), at(0.1, 600.1, 1200.1))
    assert cut(found) == [("message", 0, 0), ("message", 1, 600), ("message", 2, 1200), ("closing", None, 1800)]
    assert [part.counts for part in found] == [True, True, True, False]


def test_a_closed_loop_has_no_interval_and_ends_with_its_radio() -> None:
    found = parts([due(0), due(1, 1)], asking(Closed()), at(0.1, 1.1))
    assert cut(found) == [("message", 0, 0), ("message", 1, 1)]


def test_setup_is_apart_and_is_in_the_sum() -> None:
    opened = due(0, request_start_ns=2 * S)
    kept = due(600, 1, connection_reused=True)
    found = parts([opened, kept], asking(TEN_MINUTES, Persistent(connections=1)), at(0.5, 1.5, 2.1, 600.1))
    assert cut(found) == [("setup", 0, 0), ("message", 0, 2), ("message", 1, 600), ("closing", None, 1200)]
    # The first message has no wake of its own.
    assert [part.counts for part in found] == [False, False, True, False]


def test_a_connection_without_packets_to_open_it_has_no_setup() -> None:
    found = parts([due(0), due(600, 1)], asking(TEN_MINUTES, Persistent(connections=1)), at(0.1, 600.1))
    assert [(part.kind, part.counts) for part in found] == [("message", True), ("message", True), ("closing", False)]


def test_packets_before_the_first_message_are_a_setup() -> None:
    found = parts([due(5), due(605, 1)], asking(TEN_MINUTES, Resumed()), at(1, 2, 5.1, 605.1))
    assert cut(found)[:2] == [("setup", 0, 1), ("message", 0, 5)]


def test_a_message_that_failed_is_paid_for() -> None:
    failed = due(600, 1, outcome="failed", request_start_ns=None)
    late = due(1200, 2, outcome="timed-out", connection_reused=True)
    kept = asking(TEN_MINUTES, Persistent(connections=1))
    found = parts([due(0), failed, late], kept, at(0.1, 600.1, 1200.1))
    assert [part.counts for part in found if part.kind == "message"] == [True, True, True]
    unsupported = parts([due(0, outcome="unsupported")], asking(TEN_MINUTES), at(0.1))
    assert [part.counts for part in unsupported] == [False, False]


def test_a_client_that_does_not_say_when_it_asked_has_a_first_message_apart() -> None:
    silent = [due(600 * nth, nth, request_start_ns=None, connection_reused=None) for nth in range(2)]
    found = parts(silent, asking(TEN_MINUTES, Persistent(connections=1)), at(0.1, 600.1))
    assert [(part.kind, part.counts) for part in found] == [("message", False), ("message", True), ("closing", False)]


def test_keep_alives_are_of_the_message_before_them() -> None:
    kept = [due(0), due(600, 1, connection_reused=True)]
    packets = at(0.1, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600.1)
    found = parts(kept, asking(TEN_MINUTES, Persistent(connections=1)), packets)
    assert cut(found) == [("message", 0, 0), ("message", 1, 600), ("closing", None, 1200)]


def test_an_idle_start_is_charged_as_if_it_had_waited() -> None:
    # The link's clock was put forward by 599 s between two exchanges that are a second apart.
    rested = [*at(10.1, 10.2), *at(11.1, 11.2, rested_s=599)]
    waited = at(10.1, 10.2, 610.1, 610.2)
    by_rest = parts([due(10), due(11, 1)], asking(TEN_MINUTES), rested)
    by_time = parts([due(10), due(610, 1)], asking(TEN_MINUTES), waited)
    assert by_rest == by_time
    assert [each.on_device for each in rested] == [each.on_device for each in waited]


def test_an_instant_without_packets_behind_it_is_as_late_as_the_last_one() -> None:
    clock = DeviceClock(at(1, rested_s=5))
    assert [clock.at(0), clock.at(2 * S)] == [5 * S, 7 * S]
    assert DeviceClock([]).at(3) == 3


def test_messages_of_a_publisher_are_cut_where_they_are_due() -> None:
    workload = PubSub(message_bytes=30, messages=2, arrival=TEN_MINUTES, timeout_ns=S)
    found = parts([due(5), due(605, 1)], workload, at(1, 5.1, 605.1))
    assert cut(found) == [("setup", 0, 1), ("message", 0, 5), ("message", 1, 605), ("closing", None, 1205)]


@pytest.mark.parametrize(
    ("arrival", "device", "starts", "expected"),
    [
        (TEN_MINUTES, None, [0, 600], 1200),
        (Poisson(rate_hz=1 / 600), None, [0, 50], 650),
        # Two messages a second for 2 s of each hour: what follows a burst is behind all of it.
        (Bursts(interval_ns=3600 * S, rate_hz=2, duration_ns=2 * S), None, [0, 0.5, 1, 1.5, 3600, 3600.5], 7200),
        # The earliest instant at which a client may close its connections.
        (Periodic(interval_ns=600 * S, jitter_ns=60 * S), None, [0, 600], 1170),
        (TEN_MINUTES, Device(drift_ppb=20_000), [0, 600], 1199.988),
        (Closed(), None, [0, 1], None),
    ],
)  # fmt: skip
def test_the_end_of_the_last_gap_follows_from_the_arrival(
    arrival: ArrivalSpec, device: Device | None, starts: list[float], expected: float | None
) -> None:
    found = end_of(asking(arrival, device=device), [round(each * S) for each in starts])
    assert found == (None if expected is None else pytest.approx(expected * S, abs=1))


@given(
    st.lists(st.integers(0, 5000), min_size=1, max_size=12, unique=True).map(sorted),
    st.lists(st.integers(0, 9000), max_size=30).map(sorted),
    st.booleans(),
)
def test_parts_follow_one_another_and_every_message_has_one(
    starts: list[int], packets: list[int], persistent: bool
) -> None:
    policy = Persistent(connections=1) if persistent else NewConnection()
    messages = [due(start, nth, connection_reused=nth % 3 > 0) for nth, start in enumerate(starts)]
    found = parts(messages, asking(TEN_MINUTES, policy), at(*packets))
    assert [part.place for part in found if part.kind == "message"] == list(range(len(starts)))
    begins = [part.start_ns for part in found]
    assert begins == sorted(begins)
    assert begins[0] == min([*starts, *packets]) * S
    assert found[-1].kind == "closing"
