"""What trials under the virtual clock take of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.experiment.duration import guest
from wirelab.plan import make_plan
from wirelab.schema import PubSub
from wirelab.schema.plan import Plan

TEXT = """
title = "month"
clock = "virtual"
[factors]
protocol = ["mqtts"]
[link]
rtt = "10 ms"
[workload]
kind = "telemetry"
message = "64 B"
interval = "1 h"
exchanges = 720
connection = "persistent"
[stop]
replicates = 2
"""


def plan(folder: Path, *sets: str) -> Plan:
    file = folder / "month.toml"
    file.write_text(TEXT)
    return make_plan(load_experiment(str(file), sets))


def wall_ns(made: Plan) -> int:
    [scenario] = made.scenarios
    return guest.guest_wall_ns(scenario, made.known)


def test_keep_alives_take_more_than_the_messages(tmp_path: Path) -> None:
    pinged, silent = plan(tmp_path), plan(tmp_path, "protocols.mqtts.keep-alive=0s")
    assert wall_ns(pinged) - wall_ns(silent) == 720 * 60 * guest.PROBE_NS
    assert guest.records_bytes(pinged) - guest.records_bytes(silent) == 2 * 720 * 60 * guest.PROBE_BYTES


def test_a_new_connection_for_each_message_costs_its_handshake(tmp_path: Path) -> None:
    new, lasting = plan(tmp_path, "workload.connection=new"), plan(tmp_path, "protocols.mqtts.keep-alive=0s")
    assert wall_ns(new) - wall_ns(lasting) == pytest.approx(719 * guest.SECURED_NS)
    plain = plan(tmp_path, "workload.connection=new", "protocol=http1")
    assert wall_ns(new) - wall_ns(plain) == pytest.approx(720 * (guest.SECURED_NS - guest.OPENED_NS))


SLEEPER = """
title = "sleeper"
clock = "virtual"
[factors]
protocol = ["coap"]
[link]
rtt = "10 ms"
[workload]
kind = "pubsub"
message = "64 B"
interval = "1 h"
messages = 24
subscribers = 2
[stop]
replicates = 1
"""


def test_each_contact_of_a_sleeper_counts_with_news_or_without(tmp_path: Path) -> None:
    file = tmp_path / "sleeper.toml"
    file.write_text(SLEEPER)

    def waits(way: str) -> Plan:
        return make_plan(load_experiment(str(file), (f"workload.wait={way}",)))

    connected, polls, checks = map(waits, ("connected", "{ poll = '5 min' }", "{ check-in = '5 min' }"))
    [scenario] = polls.scenarios
    assert isinstance(scenario.workload, PubSub)
    span_ns = scenario.workload.published.span_ns(24)
    contacts = 2 * (round(span_ns) // (300 * 10**9))
    assert contacts > 500
    assert wall_ns(polls) - wall_ns(connected) == pytest.approx(contacts * guest.MESSAGE_NS, abs=10**6)
    assert wall_ns(checks) - wall_ns(connected) == pytest.approx(contacts * guest.OPENED_NS, abs=10**6)
    assert guest.records_bytes(checks) - guest.records_bytes(connected) == contacts * guest.OPENED_BYTES


def test_guests_share_the_processors(tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert guest.guests_wall_ns(made, 1) == 2 * wall_ns(made)
    assert guest.guests_wall_ns(made, 2) == guest.guests_wall_ns(made, 16) == wall_ns(made)


BULK = """
title = "bulk"
clock = "virtual"
[factors]
protocol = ["coap"]
"traffic.bulk.flows" = [0, 5]
[link]
rtt = "10 ms"
rate = "1 Mbit/s"
[topology]
air = { near = ["client", "laptop"], far = ["server"] }
[traffic.bulk]
kind = "bulk"
from = "laptop"
to = "server"
[workload]
kind = "telemetry"
message = "64 B"
exchanges = 10
[stop]
replicates = 2
"""


def test_packets_of_background_traffic_take_time_and_room(tmp_path: Path) -> None:
    file = tmp_path / "bulk.toml"
    file.write_text(BULK)
    made = make_plan(load_experiment(str(file)))
    quiet, busy = sorted(made.scenarios, key=lambda scenario: scenario.background_packets_per_s)
    packets = round(busy.background_packets_per_s * busy.expected_trial_ns / 1e9)
    assert packets > 0
    took = [guest.guest_wall_ns(scenario, made.known) for scenario in (quiet, busy)]
    assert took[1] - took[0] == pytest.approx(packets * guest.BACKGROUND_NS, rel=0.01)
    sizes = [guest.record_bytes(scenario, made.known) for scenario in (quiet, busy)]
    assert sizes[1] - sizes[0] == packets * guest.BACKGROUND_BYTES
