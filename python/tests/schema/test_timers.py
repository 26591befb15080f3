"""Which timers of a protocol run with its settings."""

from __future__ import annotations

from wirelab.schema import NewConnection, Persistent, PubSub, RequestResponse, Resumed, registered
from wirelab.schema.timers import Silence, shorter_than, silences
from wirelab.schema.workload import ConnectionPolicy, Fixed

S = 10**9
TICKETS = Silence("session tickets", 6 * 3600 * S, "forgets")


def running(protocol: str, **settings: int | bool | str) -> set[Silence]:
    described = registered().protocol(protocol)
    assert described is not None
    return {*silences(described, {name.replace("_", "-"): value for name, value in settings.items()})}


def shorter(gap_s: float, protocol: str, policy: ConnectionPolicy, **settings: int | bool) -> list[str]:
    described = registered().protocol(protocol)
    assert described is not None
    workload = RequestResponse(
        upload_bytes=1, download_bytes=1, exchanges=1, arrival=Fixed(rate_hz=1), concurrency=1, timeout_ns=1,
        connection=policy,
    )  # fmt: skip
    set_to = {name.replace("_", "-"): value for name, value in settings.items()}
    return [each.name for each in shorter_than(gap_s * S, described, set_to, workload)]


def test_a_setting_has_its_default_or_what_is_given_and_0_turns_it_off() -> None:
    keep_alive = Silence("keep-alive", 60 * S, "asks")
    assert keep_alive in running("mqtt")
    assert Silence("keep-alive", 7 * S, "asks") in running("mqtt", keep_alive=7)
    assert running("mqtt", keep_alive=0) == set()
    assert running("h2", tcp_keep_alive=5, resumption=True) == {Silence("tcp-keep-alive", 5 * S, "probes"), TICKETS}


def test_a_session_expires_where_one_is_kept() -> None:
    session = Silence("session-expiry", 3600 * S, "forgets")
    assert session in running("mqtt", clean_start=False)
    assert session not in running("mqtt", clean_start=True)


def test_of_half_an_idle_time_out_the_peer_is_told_which_then_probes() -> None:
    found = running("amqp", idle_time_out=10_000)
    assert found == {Silence("idle-time-out", 10 * S, "asks"), Silence("idle-time-out", 5 * S, "probes")}


def test_a_gap_meets_timers_of_an_open_connection_or_what_the_next_one_resumes() -> None:
    week = 7 * 86_400
    assert shorter(week, "h3", Persistent(connections=1)) == ["quic-idle-timeout"]
    assert shorter(week, "h3", Resumed()) == ["session tickets"]
    assert shorter(week, "h3", NewConnection()) == []
    assert shorter(week, "h3", NewConnection(), resumption=True) == ["session tickets"]
    assert shorter(week, "mqtt", NewConnection(), clean_start=False) == ["session-expiry"]
    assert shorter(30, "h3", Persistent(connections=1)) == []
    assert shorter(31, "h3", Persistent(connections=1), quic_keep_alive=20_000) == [
        "quic-keep-alive",
        "quic-idle-timeout",
    ]


def test_several_timers_of_one_name_are_the_shortest() -> None:
    assert shorter(6, "amqp", Persistent(connections=1), idle_time_out=10_000) == ["idle-time-out"]
    assert shorter(5, "amqp", Persistent(connections=1), idle_time_out=10_000) == []


def test_a_subscriber_has_no_gap_of_its_own() -> None:
    workload = PubSub(message_bytes=12, messages=1, timeout_ns=1, arrival=Fixed(rate_hz=1))
    described = registered().protocol("mqtt")
    assert described is not None
    assert shorter_than(10**15, described, {}, workload) == []
