"""Which clients their NAT forgets for good."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.experiment.duration.forgotten import forgotten_for_good

TEXT = """
title = "NAT"
[factors]
protocol = ["mqtts", "coaps", "coaps+tcp", "h2"]
[link]
rtt = "10 ms"
nat = { udp = "1 s", tcp = "2 s" }
[workload]
kind = "telemetry"
message = "30 B"
exchanges = 20
arrival = { fixed = "15 /min" }
connection = "persistent"
[stop]
replicates = 1
"""


def forgotten(folder: Path, *sets: str, text: str = TEXT) -> dict[str, tuple[int, int]]:
    file = folder / "nat.toml"
    file.write_text(text)
    return forgotten_for_good(load_experiment(str(file), sets))


def test_a_client_that_no_server_knows_behind_another_port_and_that_never_learns_it(tmp_path: Path) -> None:
    found = forgotten(tmp_path)
    assert found == {
        "mqtts": (2 * 10**9, 4 * 10**9), "coaps": (10**9, 4 * 10**9), "coaps+tcp": (2 * 10**9, 4 * 10**9),
        "h2": (2 * 10**9, 4 * 10**9),
    }  # fmt: skip


@pytest.mark.parametrize(
    "sets",
    [
        ("protocol=coap,raw-udp,h3,mqtt+quic,http1",),
        ("link.nat=none",),
        ("link.nat.udp=5s", "link.nat.tcp=5s"),
        ("workload.arrival=closed",),
        ("workload.connection=new",),
        ("protocol=mqtts,h2", "link.nat.unmapped=reset"),
        ("protocol=mqtts", "protocols.mqtts.after-timeout=reconnect"),
        ("protocol=mqtts", "workload.retry.keep=1h"),
        ("protocol=mqtts", "protocols.mqtts.keep-alive=1s"),
        ("protocol=h2", "protocols.h2.tcp-keep-alive=1s"),
        ("protocol=h2", "protocols.h2.tcp-user-timeout=5s"),
        ("protocol=coaps", "protocols.coaps.ping-interval=900ms"),
        ("protocol=coaps+tcp", "protocols.coaps+tcp.ping-interval=3s"),
    ],
)
def test_what_keeps_the_mapping_needs_none_or_opens_another_connection(tmp_path: Path, sets: tuple[str, ...]) -> None:
    assert forgotten(tmp_path, *sets) == {}


def test_a_ping_without_an_answer_ends_the_connection_in_time_and_a_probe_only_keeps_the_mapping(
    tmp_path: Path,
) -> None:
    for protocol, longer, warned in (
        ("mqtts", "keep-alive=3s", False),
        ("mqtts", "keep-alive=4s", True),
        ("coaps", "ping-interval=3s", True),
        ("h2", "tcp-keep-alive=3s", True),
    ):
        found = forgotten(tmp_path, f"protocol={protocol}", f"protocols.{protocol}.{longer}")
        assert (set(found) == {protocol}) == warned, longer


def test_a_reconnect_after_a_time_out_helps_only_where_something_times_out(tmp_path: Path) -> None:
    reconnecting = ("protocol=mqtts", "protocols.mqtts.after-timeout=reconnect")
    assert forgotten(tmp_path, *reconnecting) == {}
    assert set(forgotten(tmp_path, *reconnecting, "protocols.mqtts.qos=0")) == {"mqtts"}


def test_a_subscriber_sends_nothing_over_any_protocol(tmp_path: Path) -> None:
    workload = 'kind = "pubsub"\nmessage = "30 B"\nmessages = 20\nsubscribers = 1\narrival = { fixed = "15 /min" }\n'
    text = TEXT[: TEXT.index("kind =")] + workload + TEXT[TEXT.index("[stop]") :]
    found = forgotten(tmp_path, "protocol=coap,h3,mqtt", text=text)
    assert set(found) == {"coap", "mqtt"}, "QUIC ends a silent connection"
    assert set(forgotten(tmp_path, "protocol=coap", "protocols.coap.ping-interval=3s", text=text)) == {"coap"}
    kept = ("protocols.coap.ping-interval=900ms", "protocols.mqtt.keep-alive=1s")
    assert forgotten(tmp_path, "protocol=coap,h3,mqtt", *kept, text=text) == {}


def test_connections_that_take_turns_have_longer_gaps(tmp_path: Path) -> None:
    text = TEXT.replace('connection = "persistent"', "connection = { persistent = 3 }")
    [(_, gap_ns)] = forgotten(tmp_path, "protocol=mqtts", text=text).values()
    assert gap_ns == 12 * 10**9


@pytest.mark.parametrize(
    ("keys", "gap_s"),
    [
        ('interval = "4 s"', 4),
        ('interval = "4 s"\njitter = "1 s"', 5),
        # The last of three begins 1 s after the first.
        ('interval = "8 s"\narrival = { burst = "2 /s", for = "1500 ms" }', 7),
    ],
)
def test_the_largest_gap_of_an_interval_counts(tmp_path: Path, keys: str, gap_s: float) -> None:
    text = TEXT.replace('arrival = { fixed = "15 /min" }', keys)
    [(_, gap_ns)] = forgotten(tmp_path, "protocol=mqtts", text=text).values()
    assert gap_ns == gap_s * 10**9


def test_random_gaps_are_longer_than_their_mean(tmp_path: Path) -> None:
    arrival = 'arrival = { poisson = "60 /min" }'
    text = TEXT.replace('arrival = { fixed = "15 /min" }', arrival)
    [(_, gap_ns)] = forgotten(tmp_path, "protocol=mqtts", text=text).values()
    assert gap_ns == pytest.approx(2.996e9, rel=1e-3)


def test_a_subscriber_that_comes_at_intervals_opens_another_connection(tmp_path: Path) -> None:
    subscribers = 'kind = "pubsub"\nmessage = "30 B"\nmessages = 20\narrival = { fixed = "15 /min" }\n'
    head, _, tail = TEXT.partition('kind = "telemetry"')
    text = head + subscribers + tail[tail.index("[stop]") :]
    protocols = "protocol=https1,h2"
    assert forgotten(tmp_path, protocols, text=text)
    for wait in ('{ poll = "3 s" }', '{ check-in = "3 s", stay = "1 s" }'):
        assert not forgotten(tmp_path, protocols, f"workload.wait={wait}", text=text)
