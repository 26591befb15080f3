"""AMQP 1.0 with others' implementations on loopback: RabbitMQ's plug-in, and Qpid Proton on both sides of us."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from proton import ConnectionException, Delivery, Message, SSLDomain
from proton.reactor import AtMostOnce
from proton.utils import BlockingConnection, SendException
from tests.interop import rabbitmq
from tests.interop.conftest import built_agent
from tests.interop.covering import covering
from tests.interop.endpoints import Endpoints, free_port
from tests.interop.rabbitmq import RabbitMq

if TYPE_CHECKING:
    from conftest import Bench

PEER = Path(__file__).with_name("amqp_peer.py")
BYTES = 612
READINGS = 5
SUBSCRIBERS = 2
FRESH = {"policy": "new"}
KEPT = {"policy": "persistent", "connections": 1}


def deliver(connection: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "telemetry", "message_bytes": BYTES, "exchanges": READINGS, "arrival": {"process": "closed"},
        "concurrency": 2, "timeout_ns": 20_000_000_000, "connection": connection,
    }  # fmt: skip


NOTIFY = {
    "kind": "pubsub", "message_bytes": BYTES, "messages": READINGS, "subscribers": SUBSCRIBERS,
    "arrival": {"process": "fixed", "rate_hz": 50.0}, "timeout_ns": 20_000_000_000,
}  # fmt: skip


def hand_over(
    endpoints: Endpoints, protocol: str, port: int, connection: dict[str, Any], **settings: str
) -> pl.DataFrame:
    """Have our client hand its readings over; its rows."""
    return endpoints.start(protocol, "client", port, deliver(connection), **settings).rows()


def hear(endpoints: Endpoints, protocol: str, port: int, **settings: str) -> pl.DataFrame:
    """Have our publisher tell our subscribers through a broker; the subscribers' rows."""
    client = endpoints.ready(protocol, "client", port, NOTIFY, **settings)
    endpoints.start(protocol, "publisher", port, NOTIFY, **settings).wait()
    return client.rows()


def check_delivered(rows: pl.DataFrame, protocol: str, delivery: str) -> None:
    assert rows["error"].drop_nulls().to_list() == []
    outcome = "sent" if delivery == "at-most-once" else "completed"
    assert rows["outcome"].to_list() == [outcome] * READINGS
    assert rows["body_sent_bytes"].to_list() == [BYTES] * READINGS
    opened = ~rows["connection_reused"]
    assert (rows["handshake_ns"].is_not_null() == (opened & (protocol == "amqps"))).all()
    assert (rows["first_final_byte_ns"].is_not_null() == (delivery == "at-least-once")).all()


def with_rabbitmq(test: Any) -> Any:
    """Of a test of RabbitMQ, which takes ten seconds to start: all of them share one."""
    return pytest.mark.rabbitmq(pytest.mark.xdist_group("rabbitmq")(test))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitMq]:
    folder = tmp_path_factory.mktemp("rabbitmq")
    agent = built_agent()
    assert agent is not None
    subprocess.run([agent, "certificates", "--out", folder / "certificates"], check=True)
    with rabbitmq.running(folder / "broker", folder / "certificates") as broker:
        yield broker


@pytest.fixture
def endpoints(bench: Bench, request: pytest.FixtureRequest) -> Iterator[Endpoints]:
    """With RabbitMQ's certificates where that runs."""
    broker: RabbitMq | None = request.getfixturevalue("broker") if "broker" in request.fixturenames else None
    endpoints = Endpoints(bench.agent, bench.folder, broker and broker.folder.parent / "certificates")
    yield endpoints
    endpoints.kill()


@with_rabbitmq
@pytest.mark.parametrize(
    ("protocol", "sasl"),
    covering(itertools.product(["amqp", "amqps"], ["none", "anonymous", "plain"]), (0,)),
)
def test_rabbitmq_takes_our_readings(endpoints: Endpoints, broker: RabbitMq, protocol: str, sasl: str) -> None:
    port = broker.port if protocol == "amqp" else broker.tls_port
    for delivery in ("at-least-once", "at-most-once"):
        for connection in (FRESH, KEPT):
            settings = {"sasl": sasl, "delivery": delivery, "address_prefix": "/queue/"}
            check_delivered(hand_over(endpoints, protocol, port, connection, **settings), protocol, delivery)


@with_rabbitmq
@pytest.mark.parametrize(
    ("protocol", "delivery"),
    covering(itertools.product(["amqp", "amqps"], ["at-least-once", "at-most-once"]), ()),
)
def test_our_subscribers_receive_from_our_publisher_through_rabbitmq(
    endpoints: Endpoints, broker: RabbitMq, protocol: str, delivery: str
) -> None:
    port = broker.port if protocol == "amqp" else broker.tls_port
    heard = hear(endpoints, protocol, port, sasl="plain", delivery=delivery, address_prefix="/topic/")
    assert heard["outcome"].to_list() == ["completed"] * READINGS * SUBSCRIBERS
    assert set(heard["copies"]) == {1}


@with_rabbitmq
def test_a_refusal_by_rabbitmq_fails_the_exchange_with_its_message(endpoints: Endpoints, broker: RabbitMq) -> None:
    refused = hand_over(endpoints, "amqp", broker.port, FRESH, address_prefix="queue://")
    assert refused["outcome"].to_list() == ["failed"] * READINGS
    assert refused["error"].null_count() == 0


def connect(endpoints: Endpoints, protocol: str, port: int, **credentials: Any) -> BlockingConnection:
    domain = None
    if protocol == "amqps":
        domain = SSLDomain(SSLDomain.MODE_CLIENT)
        domain.set_trusted_ca_db(str(endpoints.certificates / "authority.pem"))
        domain.set_peer_authentication(SSLDomain.VERIFY_PEER)
    return BlockingConnection(f"{protocol}://127.0.0.1:{port}", timeout=20, ssl_domain=domain, **credentials)


PLAIN = {"user": "guest", "password": "guest", "allowed_mechs": "PLAIN", "allow_insecure_mechs": True}
MECHANISMS: dict[str, dict[str, Any]] = {
    "none": {"sasl_enabled": False}, "anonymous": {"allowed_mechs": "ANONYMOUS"}, "plain": PLAIN,
}  # fmt: skip


@pytest.mark.parametrize("protocol", ["amqp", "amqps"])
@pytest.mark.parametrize("sasl", ["none", "anonymous", "plain"])
def test_proton_delivers_to_our_application(endpoints: Endpoints, protocol: str, sasl: str) -> None:
    strictly = "plain" if sasl == "plain" else "none"
    with endpoints.server(protocol, deliver(FRESH), sasl=strictly) as port:
        connection = connect(endpoints, protocol, port, **MECHANISMS[sasl])
        sender = connection.create_sender("deliver")
        for body in (bytes(BYTES), "x" * BYTES):
            assert sender.send(Message(body=body)).remote_state == Delivery.ACCEPTED
        with pytest.raises(SendException) as refused:
            sender.send(Message(body=bytes(BYTES - 1)))
        assert refused.value.state == Delivery.REJECTED
        settled = connection.create_sender("deliver", name="settled", options=AtMostOnce())
        settled.send(Message(body=bytes(BYTES)))
        connection.close()


def test_proton_is_refused_without_sasl_plain(endpoints: Endpoints) -> None:
    with endpoints.server("amqp", deliver(FRESH), sasl="plain") as port:
        for credentials in (MECHANISMS["none"], MECHANISMS["anonymous"], PLAIN | {"password": "wrong"}):
            with pytest.raises(ConnectionException):
                connect(endpoints, "amqp", port, **credentials)
        connect(endpoints, "amqp", port, **PLAIN).close()


def test_protons_receivers_compete_at_a_queue_and_all_receive_from_a_topic(endpoints: Endpoints) -> None:
    with endpoints.server("amqp", NOTIFY) as port:
        one, two = (connect(endpoints, "amqp", port) for _ in range(2))
        jobs = [one.create_receiver("jobs", credit=2), two.create_receiver("jobs", credit=2)]
        changes = [one.create_receiver("notify"), two.create_receiver("notify")]
        to_jobs, to_changes = one.create_sender("jobs"), two.create_sender("notify")
        for number in range(4):
            to_jobs.send(Message(id=number, properties={"made": "here"}, body={"number": number}))
        taken = []
        for receiver in jobs:
            for _ in range(2):
                message = receiver.receive(timeout=20)
                receiver.accept()
                assert message.properties == {"made": "here"}
                taken.append(message.body["number"])
        assert sorted(taken) == [0, 1, 2, 3]
        to_changes.send(Message(body="now"))
        for receiver in changes:
            assert receiver.receive(timeout=20).body == "now"
            receiver.accept()
        one.close()
        two.close()


def test_messages_that_protons_receiver_releases_go_to_another(endpoints: Endpoints) -> None:
    with endpoints.server("amqp", NOTIFY) as port:
        leaving, staying = (connect(endpoints, "amqp", port) for _ in range(2))
        sender = staying.create_sender("jobs")
        for number in range(2):
            sender.send(Message(body=number))
        first = leaving.create_receiver("jobs", credit=2)
        first.receive(timeout=20)
        first.release(delivered=False)
        first.receive(timeout=20)
        leaving.close()
        second = staying.create_receiver("jobs", credit=2)
        again = [second.receive(timeout=20) for _ in range(2)]
        assert sorted(message.body for message in again) == [0, 1]
        assert all(message.delivery_count >= 1 for message in again)
        staying.close()


@contextmanager
def proton_server(*files: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    port = free_port()
    command = [sys.executable, PEER, str(port), *files]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdout is not None
        try:
            assert peer.stdout.readline() == "ready\n"
            yield port, peer
        finally:
            peer.kill()


@pytest.mark.parametrize("protocol", ["amqp", "amqps"])
@pytest.mark.parametrize("delivery", ["at-least-once", "at-most-once"])
def test_our_client_delivers_to_proton(endpoints: Endpoints, protocol: str, delivery: str) -> None:
    files = [endpoints.certificates / "chain.pem", endpoints.certificates / "key.pem"] if protocol == "amqps" else []
    with proton_server(*files) as (port, peer):
        for sasl in ("none", "anonymous"):
            for connection in (FRESH, KEPT):
                delivered = hand_over(endpoints, protocol, port, connection, sasl=sasl, delivery=delivery)
                check_delivered(delivered, protocol, delivery)
                assert peer.stdout is not None
                came = [peer.stdout.readline() for _ in range(READINGS)]
                assert came == [f"deliver {BYTES} {delivery == 'at-most-once'}\n"] * READINGS


EXPERIMENT = """
title = "amqp"
[factors]
protocol = ["amqp", "amqps"]
link = ["clean"]
[links]
clean = {{ rtt = "10 ms" }}
[workload]
kind = "{kind}"
message = "612 B"
{more}
timeout = "20 s"
[stop]
replicates = 2
"""


MORE = {"telemetry": "exchanges = 3", "pubsub": 'messages = 3\nsubscribers = 2\narrival = { fixed = "20 /s" }'}


@pytest.mark.namespaces
@pytest.mark.parametrize("kind", list(MORE))
def test_a_campaign_runs_over_a_link(bench: Bench, kind: str) -> None:
    bench.measure_experiment(EXPERIMENT.format(kind=kind, more=MORE[kind]))
    assert set(bench.statuses().values()) == {"done"}
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert set(rows["outcome"]) == {"completed"}
    round_trips = 5 if kind == "telemetry" else 0.5
    assert rows["end_to_end_delay_ns"].min() >= round_trips * 10_000_000
    bench.assert_nothing_left()
