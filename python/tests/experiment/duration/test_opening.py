"""Links that cannot carry a new connection."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import load_experiment
from wirelab.experiment.duration.opening import cannot_open
from wirelab.plan import make_plan
from wirelab.schema import link_key

TEXT = """
title = "slow"
[factors]
protocol = ["coap", "coaps", "http1", "https1", "mqtts", "h3"]
[link]
rate = "250 bit/s"
duty-cycle = "1 %"
queue = "4 kB"
[workload]
kind = "telemetry"
message = "30 B"
connection = "new"
timeout = "12 h"
[stop]
replicates = 1
"""


def refused(folder: Path, *sets: str) -> dict[str, str]:
    file = folder / "slow.toml"
    file.write_text(TEXT)
    plan = make_plan(load_experiment(str(file), sets))
    found = {}
    for each in plan.scenarios:
        protocol = plan.known.protocol(each.protocol)
        assert protocol is not None
        if (why := cannot_open(each, protocol, plan.link_facts[link_key(each.link)])) is not None:
            found[each.protocol] = why
    return found


def test_a_handshake_that_takes_longer_than_its_client_waits_is_refused(tmp_path: Path) -> None:
    carries, flight = "link carries 2.5 bit/s:", "a flight of opening"
    assert refused(tmp_path) == {
        "https1": f"{carries} {flight} https1 (590 B up, 860 B down) takes 22.9 min at least, and TCP gives up after "
        "15.4 min",
        "mqtts": f"{carries} {flight} mqtts (750 B up, 1.43 kB down) takes 25.3 min at least, and TCP gives up after "
        "15.4 min",
        "h3": f"{carries} {flight} h3 (2.46 kB up, 1.39 kB down) takes 1.24 h at least, and quic-idle-timeout is 30 s",
    }


def test_a_limit_on_silence_begins_again_with_each_flight(tmp_path: Path) -> None:
    """In all mqtts takes 19.4 min, longer than TCP's 15.4."""
    assert set(refused(tmp_path, "link.rate=980bit/s")) == {"h3"}
    assert refused(tmp_path, "link.rate=980bit/s", "protocol=mqtts", "workload.timeout=19min") == {
        "mqtts": "link carries 9.8 bit/s: opening mqtts (750 B up, 1.43 kB down) takes 19.4 min at least, and "
        "workload.timeout is 19 min"
    }


def test_how_long_a_third_party_client_waits_is_not_known(tmp_path: Path) -> None:
    curl = ("protocol=https1", "protocols.https1.client.implementation=curl")
    assert refused(tmp_path, *curl) == {}
    assert list(refused(tmp_path, *curl, "workload.timeout=1min")) == ["https1"]


def test_the_workloads_time_out_ends_a_new_connection_and_not_one_that_lasts(tmp_path: Path) -> None:
    sets = ("protocol=http1", "workload.timeout=1min")
    assert refused(tmp_path, *sets) == {
        "http1": "link carries 2.5 bit/s: opening http1 (112 B up, 60 B down) takes 5.97 min at least, and "
        "workload.timeout is 1 min"
    }
    assert refused(tmp_path, *sets, "workload.connection=persistent") == {}


@pytest.mark.parametrize("rate", ["20kbit/s", "1Mbit/s"])
def test_faster_links_open_every_connection(tmp_path: Path, rate: str) -> None:
    assert refused(tmp_path, f"link.rate={rate}", "link.duty-cycle=100%") == {}


def test_quic_needs_packets_of_1200_bytes_and_their_headers(tmp_path: Path) -> None:
    fast = ("link.rate=1Mbit/s", "link.duty-cycle=100%")
    assert refused(tmp_path, *fast, "link.mtu=1000B") == {
        "h3": "link has an MTU of 1000 B, and h3 opens connections with packets of 1228 B"
    }
    assert refused(tmp_path, *fast, "link.mtu=1228B") == {}
