"""MQTT between our ends and others': mosquitto's broker and clients, and paho.

On loopback, in both versions, with every quality of service, plain and over TLS.
"""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
import polars as pl
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from tests.interop.conftest import Bench, built_agent

from wirelab.runner.implementations import find_program

PATIENCE_S = 20
READING = 30
STACKS = ["mqtt", "mqtts"]
VERSIONS = ["3.1.1", "5"]
EVERY_QOS = [0, 1, 2]
NO_MATCHING_SUBSCRIBERS = 0x10
PAYLOAD_FORMAT_INVALID = 0x99
SESSION_TAKEN_OVER = 0x8E

every_way = [
    pytest.mark.parametrize("stack", STACKS),
    pytest.mark.parametrize("version", VERSIONS),
    pytest.mark.parametrize("qos", EVERY_QOS),
]


def each_way(test: Any) -> Any:
    for mark in every_way:
        test = mark(test)
    return test


def deliver(exchanges: int = 4, connection: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "kind": "deliver", "message_bytes": READING, "exchanges": exchanges, "concurrency": 2,
        "arrival": {"process": "closed"}, "timeout_ns": PATIENCE_S * 10**9,
        "connection": connection or {"policy": "fresh"},
    }  # fmt: skip


def notify(messages: int = 5, subscribers: int = 3) -> dict[str, Any]:
    return {
        "kind": "notify", "message_bytes": READING, "messages": messages, "subscribers": subscribers,
        "arrival": {"process": "fixed", "rate_hz": 50.0}, "timeout_ns": PATIENCE_S * 10**9,
    }  # fmt: skip


def until(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {PATIENCE_S} s"
        time.sleep(0.01)


@dataclass
class Loopback:
    """Programs on loopback, ended with the test."""

    folder: Path
    agent: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def certificates(self) -> Path:
        folder = self.folder / "certificates"
        if not folder.exists():
            folder.mkdir()
            command = [self.agent, "certificates", "--out", folder, "--address", "127.0.0.1"]
            subprocess.run(command, check=True, timeout=PATIENCE_S)
        return folder

    def parameters(self, stack: str, role: str, port: int, workload: dict[str, Any], **settings: Any) -> Path:
        output = self.folder / f"{role}-{len(self.processes)}"
        output.mkdir()
        certificates = self.certificates()
        parameters = {
            "schema_version": 1, "stack": stack, "role": role, "seed": 1, "output": str(output), "workload": workload,
            "server": {"address": "127.0.0.1", "port": port, "name": "server.test"},
            "settings": {name.replace("_", "-"): value for name, value in settings.items()},
            "certificates": {name: str(certificates / f"{name}.pem") for name in ("authority", "chain", "key")},
        }  # fmt: skip
        path = output / "parameters.json"
        path.write_text(json.dumps(parameters))
        return path

    def endpoint(
        self, stack: str, role: str, port: int, workload: dict[str, Any], **settings: Any
    ) -> subprocess.Popen[str]:
        path = self.parameters(stack, role, port, workload, **settings)
        return self.start([self.agent, "endpoint", path])

    def start(self, command: list[Any]) -> subprocess.Popen[str]:
        words = [str(word) for word in command]
        process = subprocess.Popen(
            words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        self.processes.append(process)
        return process

    def broker(self, stack: str, workload: dict[str, Any], **settings: Any) -> int:
        """Start ours; its port."""
        process = self.endpoint(stack, "server", 0, workload, **settings)
        assert process.stdout is not None
        return int(json.loads(process.stdout.readline())["ports"]["main"])

    def mosquitto(self, stack: str) -> int:
        """Start mosquitto; its port."""
        port = free_port()
        lines = ["user root", "allow_anonymous true", "set_tcp_nodelay true", f"listener {port} 127.0.0.1"]
        if stack == "mqtts":
            folder = self.certificates()
            lines += [f"certfile {folder / 'chain.pem'}", f"keyfile {folder / 'key.pem'}"]
        path = self.folder / "mosquitto.conf"
        path.write_text("\n".join(lines) + "\n")
        process = self.start([find_program("mosquitto"), "-c", path])
        until(lambda: process.poll() is None and answers(port), "mosquitto's start")
        return port

    def rows(self, process: subprocess.Popen[str]) -> pl.DataFrame:
        """What an endpoint of ours recorded, once it has ended."""
        _, words = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, words
        return pl.read_ipc(Path(process.args[-1]).parent / "exchanges.arrow")

    def mosquitto_client(self, name: str, stack: str, version: str, port: int, *options: Any) -> list[Any]:
        program = find_program(f"mosquitto_{name}")
        command = [program, "-h", "127.0.0.1", "-p", port, "-V", {"3.1.1": "mqttv311", "5": "mqttv5"}[version]]
        if stack == "mqtts":
            command += ["--cafile", self.certificates() / "authority.pem"]
        return [*command, *options]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def loopback(tmp_path: Path) -> Iterator[Loopback]:
    agent = built_agent()
    if agent is None:
        pytest.skip("no wirelab-agent is built")
    loopback = Loopback(tmp_path, agent)
    yield loopback
    for process in loopback.processes:
        process.kill()
        process.communicate()


def check(rows: pl.DataFrame, count: int) -> None:
    assert rows["error"].drop_nulls().to_list() == []
    assert rows["outcome"].to_list() == ["completed"] * count


@pytest.mark.mosquitto
@each_way
def test_our_client_delivers_to_mosquitto(loopback: Loopback, stack: str, version: str, qos: int) -> None:
    port = loopback.mosquitto(stack)
    for connection in ({"policy": "fresh"}, {"policy": "kept", "connections": 1}):
        client = loopback.endpoint(stack, "client", port, deliver(connection=connection), version=version, qos=qos)
        rows = loopback.rows(client)
        check(rows, 4)
        told = {1: NO_MATCHING_SUBSCRIBERS, 2: 0}.get(qos) if version == "5" else None
        assert rows["status"].to_list() == [told] * 4
        assert (rows["first_response_byte_ns"].null_count() == 0) == (qos > 0)
        if connection["policy"] == "fresh":
            assert (rows["handshake_ns"].null_count() == 0) == (stack == "mqtts")


@pytest.mark.mosquitto
@each_way
def test_our_publisher_tells_our_subscribers_through_mosquitto(
    loopback: Loopback, stack: str, version: str, qos: int
) -> None:
    port = loopback.mosquitto(stack)
    client = loopback.endpoint(stack, "client", port, notify(), version=version, qos=qos)
    assert client.stdout is not None
    assert json.loads(client.stdout.readline())["event"] == "ready"
    loopback.endpoint(stack, "publisher", port, notify(), version=version, qos=qos)
    rows = loopback.rows(client)
    check(rows, 15)
    assert rows["copies"].to_list() == [1] * 15


@pytest.mark.mosquitto
@pytest.mark.parametrize("version", VERSIONS)
def test_our_client_resumes_its_session_at_mosquitto(loopback: Loopback, version: str) -> None:
    port = loopback.mosquitto("mqtt")
    client = loopback.endpoint("mqtt", "client", port, deliver(), version=version, qos=2, clean_start=False)
    check(loopback.rows(client), 4)


@pytest.mark.mosquitto
@each_way
def test_mosquitto_pub_delivers_to_our_broker(loopback: Loopback, stack: str, version: str, qos: int) -> None:
    port = loopback.broker(stack, deliver())
    options = ("-q", qos, "-t", "wirelab/deliver", "-m", "x" * READING, "--repeat", 3, "--debug")
    done = subprocess.run(
        [str(word) for word in loopback.mosquitto_client("pub", stack, version, port, *options)],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    answers = {0: 0, 1: done.stdout.count("received PUBACK"), 2: done.stdout.count("received PUBCOMP")}
    assert answers[qos] == (0 if qos == 0 else 3), done.stdout


@pytest.mark.mosquitto
@each_way
def test_mosquitto_sub_hears_our_publisher_through_our_broker(
    loopback: Loopback, stack: str, version: str, qos: int
) -> None:
    port = loopback.broker(stack, notify())
    options = ("-q", qos, "-t", "wirelab/+", "-C", 5, "-N", "-F", "%t %q %l", "-v", "-W", PATIENCE_S)
    # Into a pipe it would say everything at its end.
    by_lines = ["stdbuf", "--output=L"]
    listener = loopback.start([*by_lines, *loopback.mosquitto_client("sub", stack, version, port, *options, "--debug")])
    assert listener.stdout is not None
    said = []
    while not any("received SUBACK" in line for line in said):
        said.append(listener.stdout.readline())
        assert said[-1], said
    loopback.endpoint(stack, "publisher", port, notify(), version=version, qos=qos)
    out = listener.stdout.read()
    assert listener.wait(PATIENCE_S) == 0, out
    assert out.count(f"wirelab/notify {qos} {READING}") == 5, out


class Paho:
    """A client of paho's that keeps what it hears."""

    def __init__(self, loopback: Loopback, stack: str, version: str, client_id: str, *, clean: bool = True) -> None:
        self.version = version
        self.heard: list[paho.MQTTMessage] = []
        self.acknowledged: dict[int, Any] = {}
        self.session_present = False
        self.ended: list[Any] = []
        self._told = threading.Event()
        arguments = {"clean_session": clean} if version == "3.1.1" else {}
        protocol = paho.MQTTv311 if version == "3.1.1" else paho.MQTTv5
        self.client = paho.Client(CallbackAPIVersion.VERSION2, client_id, protocol=protocol, **arguments)
        self.clean = clean
        if stack == "mqtts":
            context = ssl.create_default_context(cafile=str(loopback.certificates() / "authority.pem"))
            self.client.tls_set_context(context)
        self.client.on_message = lambda _client, _data, message: self.heard.append(message)
        self.client.on_publish = self._on_publish
        self.client.on_connect = self._on_connect
        self.client.on_disconnect = lambda _client, _data, _flags, reason, _properties: self.ended.append(reason)
        self.client.on_subscribe = lambda *_: self._told.set()

    def _on_publish(self, _client: Any, _data: Any, number: int, reason: Any, _properties: Any) -> None:
        self.acknowledged[number] = reason

    def _on_connect(self, _client: Any, _data: Any, flags: Any, reason: Any, _properties: Any) -> None:
        assert reason == 0, reason
        self.session_present = bool(flags.session_present)
        self._told.set()

    def connect(self, port: int) -> Paho:
        self._told.clear()
        options: dict[str, Any] = {}
        if self.version == "5":
            properties = Properties(PacketTypes.CONNECT)
            properties.SessionExpiryInterval = 0 if self.clean else 3600
            options = {"clean_start": self.clean, "properties": properties}
        self.client.connect("127.0.0.1", port, keepalive=20, **options)
        self.client.loop_start()
        assert self._told.wait(PATIENCE_S)
        return self

    def subscribe(self, topic: str, qos: int) -> Paho:
        self._told.clear()
        self.client.subscribe(topic, qos)
        assert self._told.wait(PATIENCE_S)
        return self

    def publish(self, topic: str, payload: str, qos: int, *, retain: bool = False, **properties: Any) -> Any:
        """Publish and wait for the acknowledgement; its reason."""
        given = None
        if properties:
            given = Properties(PacketTypes.PUBLISH)
            for name, value in properties.items():
                setattr(given, name, value)
        number = self.client.publish(topic, payload, qos, retain, given).mid
        until(lambda: number in self.acknowledged, "the acknowledgement")
        return self.acknowledged[number]

    def vanish(self) -> None:
        """End without a word."""
        self.client.socket().shutdown(socket.SHUT_RDWR)
        self.client.loop_stop()

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def messages(self) -> list[tuple[str, str]]:
        return [(message.topic, message.payload.decode()) for message in self.heard]


@each_way
def test_paho_speaks_with_itself_through_our_broker(loopback: Loopback, stack: str, version: str, qos: int) -> None:
    port = loopback.broker(stack, notify())
    subscriber = Paho(loopback, stack, version, "subscriber").connect(port).subscribe("house/+/temperature", qos)
    publisher = Paho(loopback, stack, version, "publisher").connect(port)
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
def test_our_broker_keeps_what_paho_missed(loopback: Loopback, version: str, qos: int) -> None:
    port = loopback.broker("mqtt", notify())
    away = Paho(loopback, "mqtt", version, "away", clean=False).connect(port).subscribe("t/#", qos)
    assert not away.session_present
    away.close()
    publisher = Paho(loopback, "mqtt", version, "publisher").connect(port)
    for number in range(50):
        publisher.publish("t/x", str(number), qos)
    back = Paho(loopback, "mqtt", version, "away", clean=False).connect(port)
    until(lambda: len(back.heard) >= 50, "fifty messages")
    assert back.session_present
    assert [payload for _, payload in back.messages()] == [str(number) for number in range(50)]
    publisher.close()
    back.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_our_broker_retains_and_publishes_wills_for_paho(loopback: Loopback, version: str) -> None:
    port = loopback.broker("mqtt", notify())
    publisher = Paho(loopback, "mqtt", version, "publisher")
    publisher.client.will_set("status", "gone", qos=1, retain=True)
    publisher.connect(port)
    publisher.publish("status", "here", 1, retain=True)
    early = Paho(loopback, "mqtt", version, "early").connect(port).subscribe("#", 1)
    until(lambda: early.messages() == [("status", "here")], "the retained message")
    assert early.heard[0].retain
    publisher.vanish()
    until(lambda: early.messages()[1:] == [("status", "gone")], "the will")
    assert not early.heard[1].retain
    late = Paho(loopback, "mqtt", version, "late").connect(port).subscribe("+", 1)
    until(lambda: late.messages() == [("status", "gone")], "the retained will")
    early.close()
    late.close()


def test_our_broker_passes_properties_on_and_says_reasons_to_paho(loopback: Loopback) -> None:
    port = loopback.broker("mqtt", deliver())
    subscriber = Paho(loopback, "mqtt", "5", "subscriber").connect(port).subscribe("t", 1)
    publisher = Paho(loopback, "mqtt", "5", "publisher").connect(port)
    given = {"UserProperty": [("a", "1"), ("a", "2")], "ContentType": "text/plain", "ResponseTopic": "answer"}
    assert publisher.publish("t", "x", 1, **given).value == 0
    until(lambda: subscriber.heard, "the message")
    properties = subscriber.heard[0].properties
    assert {name: getattr(properties, name) for name in given} == given
    assert publisher.publish("nobody", "x", 1).value == NO_MATCHING_SUBSCRIBERS
    assert publisher.publish("wirelab/deliver", "x" * READING, 2).value == 0
    assert publisher.publish("wirelab/deliver", "too short", 1).value == PAYLOAD_FORMAT_INVALID
    second = Paho(loopback, "mqtt", "5", "publisher").connect(port)
    until(lambda: publisher.ended, "the end of the first connection")
    assert publisher.ended[0].value == SESSION_TAKEN_OVER
    publisher.client.loop_stop()
    for client in (second, subscriber):
        client.close()


LANE = """
title = "interop"
[factors]
stack = {stacks}
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
    """Run it for every transport; its exchanges with the stack of each."""
    bench.run_experiment(LANE.format(stacks=json.dumps(list(ROUND_TRIPS)), workload=workload), "--lanes", "2")
    plan = json.loads((bench.campaign / "plan.json").read_text())
    names = {scenario["key"]: scenario["stack"] for scenario in plan["scenarios"]}
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet")
    bench.assert_nothing_left()
    assert set(rows["outcome"]) == {"completed"}
    return rows.with_columns(stack=pl.col("scenario").replace_strict(names))


@pytest.mark.namespaces
def test_a_reading_over_a_fresh_connection_takes_the_round_trip_of_connack_too(bench: Bench) -> None:
    rows = over_lanes(bench, 'kind = "deliver"\nmessage = "612 B"\nconnection = "fresh"\nexchanges = 3')
    for stack, part in rows.partition_by("stack", as_dict=True).items():
        assert len(part) == 6
        assert part["end_to_end_delay_ns"].min() >= ROUND_TRIPS[str(stack[0])] * RTT_NS


@pytest.mark.namespaces
def test_a_change_reaches_every_subscriber_in_half_a_round_trip_or_more(bench: Bench) -> None:
    arrival = '{ fixed = "50 /s" }'
    workload = f'kind = "notify"\nmessage = "612 B"\nmessages = 5\nsubscribers = 3\narrival = {arrival}'
    rows = over_lanes(bench, workload)
    assert len(rows) == len(ROUND_TRIPS) * 2 * 5 * 3
    assert rows["end_to_end_delay_ns"].min() >= RTT_NS // 2
