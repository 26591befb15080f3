"""What runs out while a link rests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.experiment.duration.idle_start import NotCovered, not_covered, unknown_servers
from wirelab.schema.timers import Silence

TEXT = """
title = "sensor"
[factors]
protocol = ["mqtts", "coap", "h3", "http1"]
[link]
rtt = "10 ms"
[workload]
kind = "telemetry"
message = "64 B"
arrival = "idle-start"
interval = "10 min"
connection = "persistent"
[stop]
replicates = 1
"""
S = 10**9


def experiment(folder: Path, *sets: str) -> list[NotCovered]:
    file = folder / "sensor.toml"
    file.write_text(TEXT)
    return not_covered(load_experiment(str(file), sets))


def test_timers_shorter_than_the_gap_are_not_covered_by_an_idle_start(tmp_path: Path) -> None:
    mqtts = ("mqtts", Silence("keep-alive", 60 * S, "asks"))
    quic = ("h3", Silence("quic-idle-timeout", 30 * S, "closes"))
    assert experiment(tmp_path) == [NotCovered(600 * S, (mqtts, quic))]


@pytest.mark.parametrize(
    "sets",
    [
        ("workload.interval=20s",),
        ("protocol=coap,http1",),
        ("workload.connection=new",),
        ("protocol=mqtts,https1,h3", "workload.connection=resumed"),
        ("protocol=mqtts", "protocols.mqtts.keep-alive=0s"),
        ("protocol=h3", "protocols.h3.quic-idle-timeout=15min"),
    ],
)
def test_what_is_longer_than_the_gap_or_off_or_has_no_connection_open_is_covered(
    tmp_path: Path, sets: tuple[str, ...]
) -> None:
    assert experiment(tmp_path, *sets) == []


def test_a_ticket_may_be_forgotten_in_a_gap_of_hours(tmp_path: Path) -> None:
    ticket = ("https1", Silence("session tickets", 6 * 3600 * S, "forgets"))
    resumed = ("workload.connection=resumed", "workload.interval=7h", "protocol=https1")
    assert experiment(tmp_path, *resumed) == [NotCovered(7 * 3600 * S, (ticket,))]


def test_connections_that_take_turns_are_silent_for_longer(tmp_path: Path) -> None:
    turns = ("protocol=mqtts", "workload.interval=30s", "workload.connection={ persistent = 3 }")
    [(gap_ns, [(_, keep_alive)])] = experiment(tmp_path, *turns)
    assert (gap_ns, keep_alive.length_ns) == (30 * S, 60 * S)


def test_of_a_third_party_server_no_time_out_is_known(tmp_path: Path) -> None:
    file = tmp_path / "sensor.toml"
    file.write_text(TEXT)
    sets = ("protocol=http1", "workload.kind=request-response", "server.implementation=nginx")
    assert unknown_servers(load_experiment(str(file), sets)) == ["nginx"]
    assert unknown_servers(load_experiment(str(file), (*sets, "workload.connection=new"))) == []
    assert unknown_servers(load_experiment(str(file), ("protocol=http1",))) == []
