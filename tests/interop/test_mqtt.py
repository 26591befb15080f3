"""MQTT between our ends and others': mosquitto's broker and clients, and paho.

On loopback, in both versions, with every quality of service, plain and over TLS.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.interop.conftest import Bench, built_agent
from tests.interop.endpoints import Endpoints
from tests.interop.mqtt_peers import PATIENCE_S, Loopback, Paho, until

READING = 30
PROTOCOLS = ["mqtt", "mqtts"]
VERSIONS = ["3.1.1", "5"]
EVERY_QOS = [0, 1, 2]
NO_MATCHING_SUBSCRIBERS = 0x10
PAYLOAD_FORMAT_INVALID = 0x99
SESSION_TAKEN_OVER = 0x8E

every_way = [
    pytest.mark.parametrize("protocol", PROTOCOLS),
    pytest.mark.parametrize("version", VERSIONS),
    pytest.mark.parametrize("qos", EVERY_QOS),
]


def each_way(test: Any) -> Any:
    for mark in every_way:
        test = mark(test)
    return test


def deliver(exchanges: int = 4, connection: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "kind": "telemetry", "message_bytes": READING, "exchanges": exchanges, "concurrency": 2,
        "arrival": {"process": "closed"}, "timeout_ns": PATIENCE_S * 10**9,
        "connection": connection or {"policy": "new"},
    }  # fmt: skip


def notify(messages: int = 5, subscribers: int = 3) -> dict[str, Any]:
    return {
        "kind": "pubsub", "message_bytes": READING, "messages": messages, "subscribers": subscribers,
        "arrival": {"process": "fixed", "rate_hz": 50.0}, "timeout_ns": PATIENCE_S * 10**9,
    }  # fmt: skip


@pytest.fixture
def loopback(tmp_path: Path) -> Iterator[Loopback]:
    agent = built_agent()
    if agent is None:
        pytest.skip("no wirelab-agent is built")
    loopback = Loopback(Endpoints(agent, tmp_path))
    yield loopback
    loopback.end()


def check(rows: pl.DataFrame, count: int, outcome: str = "completed") -> None:
    assert rows["error"].drop_nulls().to_list() == []
    assert rows["outcome"].to_list() == [outcome] * count


@pytest.mark.mosquitto
@each_way
def test_our_client_delivers_to_mosquitto(loopback: Loopback, protocol: str, version: str, qos: int) -> None:
    port = loopback.mosquitto(protocol)
    for connection in ({"policy": "new"}, {"policy": "persistent", "connections": 1}):
        work = deliver(connection=connection)
        rows = loopback.ours.start(protocol, "client", port, work, version=version, qos=qos).rows()
        check(rows, 4, "completed" if qos else "sent")
        reported = {1: NO_MATCHING_SUBSCRIBERS, 2: 0}.get(qos) if version == "5" else None
        assert rows["status"].to_list() == [reported] * 4
        assert (rows["first_response_byte_ns"].null_count() == 0) == (qos > 0)
        if connection["policy"] == "new":
            assert (rows["handshake_ns"].null_count() == 0) == (protocol == "mqtts")


@pytest.mark.mosquitto
@each_way
def test_our_publisher_reaches_our_subscribers_through_mosquitto(
    loopback: Loopback, protocol: str, version: str, qos: int
) -> None:
    port = loopback.mosquitto(protocol)
    client = loopback.ours.ready(protocol, "client", port, notify(), version=version, qos=qos)
    loopback.ours.start(protocol, "publisher", port, notify(), version=version, qos=qos)
    rows = client.rows()
    check(rows, 15)
    assert rows["copies"].to_list() == [1] * 15


@pytest.mark.mosquitto
@pytest.mark.parametrize("version", VERSIONS)
def test_our_client_resumes_its_session_at_mosquitto(loopback: Loopback, version: str) -> None:
    port = loopback.mosquitto("mqtt")
    client = loopback.ours.start("mqtt", "client", port, deliver(), version=version, qos=2, clean_start=False)
    check(client.rows(), 4)


@pytest.mark.mosquitto
@each_way
def test_mosquitto_pub_delivers_to_our_broker(loopback: Loopback, protocol: str, version: str, qos: int) -> None:
    port = loopback.broker(protocol, deliver())
    options = ("-q", qos, "-t", "wirelab/deliver", "-m", "x" * READING, "--repeat", 3, "--debug")
    done = subprocess.run(
        [str(word) for word in loopback.mosquitto_client("pub", protocol, version, port, *options)],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    answers = {0: 0, 1: done.stdout.count("received PUBACK"), 2: done.stdout.count("received PUBCOMP")}
    assert answers[qos] == (0 if qos == 0 else 3), done.stdout


@pytest.mark.mosquitto
@each_way
def test_mosquitto_sub_receives_from_our_publisher_through_our_broker(
    loopback: Loopback, protocol: str, version: str, qos: int
) -> None:
    port = loopback.broker(protocol, notify())
    options = ("-q", qos, "-t", "wirelab/+", "-C", 5, "-N", "-F", "%t %q %l", "-v", "-W", PATIENCE_S)
    # Into a pipe it would say everything at its end.
    by_lines = ["stdbuf", "--output=L"]
    listener = loopback.start(
        [*by_lines, *loopback.mosquitto_client("sub", protocol, version, port, *options, "--debug")]
    )
    assert listener.stdout is not None
    said = []
    while not any("received SUBACK" in line for line in said):
        said.append(listener.stdout.readline())
        assert said[-1], said
    loopback.ours.start(protocol, "publisher", port, notify(), version=version, qos=qos)
    out = listener.stdout.read()
    assert listener.wait(PATIENCE_S) == 0, out
    assert out.count(f"wirelab/notify {qos} {READING}") == 5, out


@each_way
def test_paho_speaks_with_itself_through_our_broker(loopback: Loopback, protocol: str, version: str, qos: int) -> None:
    port = loopback.broker(protocol, notify())
    subscriber = (
        Paho(loopback.ours, protocol, version, "subscriber").connect(port).subscribe("house/+/temperature", qos)
    )
    publisher = Paho(loopback.ours, protocol, version, "publisher").connect(port)
    for number in range(20):
        publisher.publish("house/kitchen/temperature", str(number), qos)
    publisher.publish("house/kitchen/humidity", "x", qos)
    until(lambda: len(subscriber.heard) >= 20, "twenty messages")
    assert subscriber.messages() == [("house/kitchen/temperature", str(number)) for number in range(20)]
    assert {message.qos for message in subscriber.heard} == {qos}
    publisher.close()
    subscriber.close()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("qos", [1, 2])
def test_our_broker_stores_messages_that_paho_missed(loopback: Loopback, version: str, qos: int) -> None:
    port = loopback.broker("mqtt", notify())
    away = Paho(loopback.ours, "mqtt", version, "away", clean=False).connect(port).subscribe("t/#", qos)
    assert not away.session_present
    away.close()
    publisher = Paho(loopback.ours, "mqtt", version, "publisher").connect(port)
    for number in range(50):
        publisher.publish("t/x", str(number), qos)
    back = Paho(loopback.ours, "mqtt", version, "away", clean=False).connect(port)
    until(lambda: len(back.heard) >= 50, "fifty messages")
    assert back.session_present
    assert [payload for _, payload in back.messages()] == [str(number) for number in range(50)]
    publisher.close()
    back.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_our_broker_retains_and_publishes_wills_for_paho(loopback: Loopback, version: str) -> None:
    port = loopback.broker("mqtt", notify())
    publisher = Paho(loopback.ours, "mqtt", version, "publisher")
    publisher.client.will_set("status", "gone", qos=1, retain=True)
    publisher.connect(port)
    publisher.publish("status", "here", 1, retain=True)
    early = Paho(loopback.ours, "mqtt", version, "early").connect(port).subscribe("#", 1)
    until(lambda: early.messages() == [("status", "here")], "the retained message")
    assert early.heard[0].retain
    publisher.vanish()
    until(lambda: early.messages()[1:] == [("status", "gone")], "the will")
    assert not early.heard[1].retain
    late = Paho(loopback.ours, "mqtt", version, "late").connect(port).subscribe("+", 1)
    until(lambda: late.messages() == [("status", "gone")], "the retained will")
    early.close()
    late.close()


def test_our_broker_forwards_properties_and_sends_reason_codes_to_paho(loopback: Loopback) -> None:
    port = loopback.broker("mqtt", deliver())
    subscriber = Paho(loopback.ours, "mqtt", "5", "subscriber").connect(port).subscribe("t", 1)
    publisher = Paho(loopback.ours, "mqtt", "5", "publisher").connect(port)
    given = {"UserProperty": [("a", "1"), ("a", "2")], "ContentType": "text/plain", "ResponseTopic": "answer"}
    assert publisher.publish("t", "x", 1, **given).value == 0
    until(lambda: subscriber.heard, "the message")
    properties = subscriber.heard[0].properties
    assert {name: getattr(properties, name) for name in given} == given
    assert publisher.publish("nobody", "x", 1).value == NO_MATCHING_SUBSCRIBERS
    assert publisher.publish("wirelab/deliver", "x" * READING, 2).value == 0
    assert publisher.publish("wirelab/deliver", "too short", 1).value == PAYLOAD_FORMAT_INVALID
    second = Paho(loopback.ours, "mqtt", "5", "publisher").connect(port)
    until(lambda: publisher.ended, "the end of the first connection")
    assert publisher.ended[0].value == SESSION_TAKEN_OVER
    publisher.client.loop_stop()
    for client in (second, subscriber):
        client.close()


LANE = """
title = "interop"
[factors]
protocol = {protocols}
link = ["clean"]
[links]
clean = {{ rtt = "10 ms" }}
[workload]
{workload}
timeout = "20 s"
[stop]
replicates = 2
"""
RTT_NS = 10_000_000
# TCP or QUIC, TLS 1.3, CONNECT, PUBLISH.
ROUND_TRIPS = {"mqtt": 3, "mqtts": 4, "mqtt+quic": 3}


def over_lanes(bench: Bench, workload: str) -> pl.DataFrame:
    """Run it for every transport; its exchanges with the protocol of each."""
    bench.measure_experiment(LANE.format(protocols=json.dumps(list(ROUND_TRIPS)), workload=workload), "--jobs", "2")
    plan = json.loads((bench.campaign / "plan.json").read_text())
    names = {scenario["key"]: scenario["protocol"] for scenario in plan["scenarios"]}
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet")
    bench.assert_nothing_left()
    assert set(rows["outcome"]) == {"completed"}
    return rows.with_columns(protocol=pl.col("scenario").replace_strict(names))


@pytest.mark.namespaces
def test_a_reading_over_a_new_connection_includes_the_connack_round_trip(bench: Bench) -> None:
    rows = over_lanes(bench, 'kind = "telemetry"\nmessage = "612 B"\nconnection = "new"\nexchanges = 3')
    for protocol, part in rows.partition_by("protocol", as_dict=True).items():
        assert len(part) == 6
        assert part["end_to_end_delay_ns"].min() >= ROUND_TRIPS[str(protocol[0])] * RTT_NS


@pytest.mark.namespaces
def test_a_change_reaches_every_subscriber_in_half_a_round_trip_or_more(bench: Bench) -> None:
    arrival = '{ fixed = "50 /s" }'
    workload = f'kind = "pubsub"\nmessage = "612 B"\nmessages = 5\nsubscribers = 3\narrival = {arrival}'
    rows = over_lanes(bench, workload)
    assert len(rows) == len(ROUND_TRIPS) * 2 * 5 * 3
    assert rows["end_to_end_delay_ns"].min() >= RTT_NS // 2
