"""A NAT that gives a client another port after each pause: what protocols do, and that records follow the client."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Bench

pytestmark = pytest.mark.namespaces

EXPERIMENT = """
title = "NAT"
capture = true
[factors]
protocol = {protocols}
[link]
rtt = "10 ms"
[link.nat]
udp = "300 ms"
tcp = "300 ms"
tcp-transitory = "300 ms"
unmapped = "{unmapped}"
[workload]
kind = "telemetry"
message = "400 B"
exchanges = 5
arrival = {{ fixed = "1 /s" }}
connection = "persistent"
timeout = "3 s"
[stop]
replicates = 1
"""


def trials(bench: Bench) -> Iterator[tuple[str, Path]]:
    """Each trial that counts, by its protocol."""
    plan = json.loads((bench.campaign / "plan.json").read_text(encoding="utf-8"))
    names = {each["key"]: each["protocol"] for each in plan["scenarios"]}
    for block in plan["blocks"]:
        for trial in block["trials"]:
            yield names[trial["scenario"]], bench.campaign / "trials" / trial["trial"]


def outcomes(bench: Bench) -> dict[str, list[str]]:
    """How the exchanges of each protocol ended."""
    found = {}
    for protocol, folder in trials(bench):
        found[protocol] = pl.read_ipc(folder / "client" / "exchanges.arrow")["outcome"].to_list()
    return found


def packets(bench: Bench, folder: Path) -> list[dict[str, Any]]:
    """A trial's packets."""
    done = subprocess.run([bench.agent, "dissect", folder / "packets.wlpl"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_followed(bench: Bench) -> None:
    """Each replay makes the same ports; each byte that an end sent is in the ledger; nobody is accused."""
    for protocol, folder in trials(bench):
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        assert result["confirmation"]["not_confirmed"] == [], protocol
        done = subprocess.run(
            [bench.agent, "replay", folder / "packets.wlpl"], capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout)["mismatches"] == 0, protocol
        done = subprocess.run([bench.agent, "ledger", folder], capture_output=True, text=True, check=True)
        ledger = json.loads(done.stdout)
        for way, counts in zip(ledger["directions"], result["link"]["directions"], strict=True):
            assert (way["packets"], way["total"]) == (counts["received"], counts["received_bytes"]), protocol
            assert way["application"] > 0, protocol
        # Of one client, whichever ports the server saw.
        ports = {each["client_port"] for each in packets(bench, folder)}
        flows = Counter(each["client_port"] for each in packets(bench, folder) if each["outer_end"])
        assert ports == set(flows), protocol


def test_quic_migrates_and_coap_goes_on_over_every_change_of_port(bench: Bench) -> None:
    protocols = ["h3", "mqtt+quic", "coap", "raw-udp"]
    bench.measure_experiment(EXPERIMENT.format(protocols=json.dumps(protocols), unmapped="drop"), timeout_s=200)
    assert outcomes(bench) == {protocol: ["completed"] * 5 for protocol in protocols}
    for protocol, folder in trials(bench):
        found = packets(bench, folder)
        assert sum(each["rebound"] for each in found) == 4, protocol
        assert len({each["client_port"] for each in found}) == 1, protocol
    assert_followed(bench)


def test_a_dtls_server_does_not_know_its_client_behind_another_port(bench: Bench) -> None:
    bench.measure_experiment(EXPERIMENT.format(protocols='["coaps"]', unmapped="drop"), timeout_s=200)
    assert outcomes(bench) == {"coaps": ["completed", *["timed-out"] * 4]}
    assert_followed(bench)


@pytest.mark.parametrize(("unmapped", "second"), [("drop", "timed-out"), ("reset", "failed")])
def test_a_tcp_client_notices_by_a_time_out_or_by_a_reset(bench: Bench, unmapped: str, second: str) -> None:
    bench.measure_experiment(EXPERIMENT.format(protocols='["http1", "mqtts"]', unmapped=unmapped), timeout_s=200)
    for protocol, found in outcomes(bench).items():
        assert found[:2] == ["completed", second], protocol
    assert_followed(bench)
    resets = [each for _, folder in trials(bench) for each in packets(bench, folder) if each["originated"]]
    assert bool(resets) == (unmapped == "reset")
