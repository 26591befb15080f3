"""Exchanges that clients call completed, compared with the packets: a lie is found, and no honest one is accused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.interop.covering import nightly

from wirelab.schema.campaign import read_journal

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

CLIENT = Path(__file__).resolve().parents[1] / "misbehaving" / "client.py"
EXPERIMENT = """
title = "misbehaving"
[factors]
protocol = ["http1"]
[link]
rtt = "20 ms"
[workload]
kind = "telemetry"
message = "400 B"
connection = "new"
exchanges = 5
timeout = "5 s"
[protocols.http1]
client.implementation = "{client}"
[stop]
replicates = 1
"""
ENTRY = """
[{name}]
title = "A client that says {name}"
about = "It is for tests."
homepage = "https://example.org"
install = "it is here"
version_command = ["{python}", "--version"]
[{name}.roles.client]
protocols = ["http1"]
workloads = ["telemetry"]
connections = ["new"]
command = ["{python}", "{client}", "{name}", "{{{{ parameters }}}}"]
"""
HONEST = """
title = "honest"
[factors]
protocol = [{protocols}]
link = ["clean", "lossy"]
"workload.connection" = ["new", "persistent"]
[links]
clean = {{ rtt = "10 ms" }}
lossy = {{ rtt = "10 ms", loss = "10 %" }}
[workload]
kind = "telemetry"
message = "30 B"
exchanges = {exchanges}
concurrency = {concurrency}
timeout = "{timeout}"
[stop]
replicates = 1
"""
# CoAP repeats one message at a time: with its own two seconds the lossy cases take minutes.
IMPATIENT = "".join(f'[protocols.{name}]\nack-timeout = "200 ms"\n' for name in ("coap", "coaps"))


def confirmations(bench: Bench) -> list[Any]:
    """What the link said of each trial."""
    results = bench.campaign.glob("trials/*/result.json")
    return [json.loads(path.read_text(encoding="utf-8"))["confirmation"] for path in results]


def run_with(bench: Bench, name: str, *options: str) -> tuple[int, str]:
    """Run the experiment with such a client; its exit code, and what it said."""
    entry = ENTRY.format(name=name, python=sys.executable, client=CLIENT)
    (bench.folder / "implementations.toml").write_text(entry)
    file = bench.experiment(EXPERIMENT.format(client=name))
    status, out, words = bench.run("run", str(file), "--out", str(bench.campaign), "--no-probes", *options)
    return status, out + words


def test_a_client_that_lies_fails_its_trial_with_the_reason_and_its_last_line(bench: Bench) -> None:
    status, words = run_with(bench, "cache")
    assert status == 1, words
    confirmation = confirmations(bench)[-1]
    assert confirmation["checked"] == 5
    assert len(confirmation["not_confirmed"]) == 4
    # On a busy machine a late block is run again, or kept with a second entry.
    entries = read_journal(bench.campaign / "journal.jsonl")[0]
    entry = next(each for each in entries if each.not_confirmed)
    assert (entry.status, entry.not_confirmed) == ("failed", 4)
    assert entry.error is not None
    assert "of the 400 bytes to the server by its end" in entry.error
    assert "cache: all went well" in entry.error
    again, words = run_with(bench, "cache")
    assert again == 1, words
    assert read_journal(bench.campaign / "journal.jsonl")[0] == entries
    fresh, words = run_with(bench, "cache", "--fresh")
    assert fresh == 1, words
    assert read_journal(bench.campaign / "journal.jsonl")[0] != entries


def test_the_same_client_without_a_lie_is_confirmed(bench: Bench) -> None:
    status, words = run_with(bench, "honest")
    assert status == 0, words
    # More than one if a busy machine made the block run again.
    expected = {"checked": 5, "not_confirmed": [], "not_checked": None, "unread": None, "sent": 0, "arrived": 0}
    found = confirmations(bench)
    assert found == [expected] * len(found)
    assert found


@pytest.mark.mosquitto
def test_a_program_that_only_exits_with_0_is_found_by_run_and_interop(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = bench.folder / "bin" / "mosquitto_pub"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    arguments = ("--protocol", "mqtt", "--client", "mosquitto", "--server", "builtin", "--json")
    status, out, words = bench.run("interop", *arguments, "--out", str(bench.campaign))
    assert status == 1, words
    [cell] = [each for each in json.loads(out) if each["connection"] == "new"]
    assert cell["result"] == "failed"
    assert cell["reason"].startswith(
        "not confirmed by the link: 3 of 3 exchanges that client mosquitto calls completed"
    )


# At night 51,200 exchanges, half of them at 10 % loss.
@pytest.mark.parametrize("concurrency", [1, nightly(16)])
@pytest.mark.parametrize(
    "protocols",
    [
        # It repeats nothing: each lost datagram takes its whole time-out.
        ("raw-udp",),
        ("raw-tcp", "http1", "https1"),
        ("h2c", "h2", "h3", "mqtt"),
        ("mqtts", "mqtt+quic", "amqp", "amqps"),
        ("coap", "coaps", "coap+tcp", "coaps+tcp"),
    ],
)
def test_no_honest_exchange_is_accused(bench: Bench, protocols: tuple[str, ...], concurrency: int) -> None:
    exchanges = 5 if concurrency == 1 else 800
    timeout = "300 ms" if protocols == ("raw-udp",) else "10 s"
    names = ", ".join(f'"{name}"' for name in protocols)
    text = HONEST.format(protocols=names, exchanges=exchanges, concurrency=concurrency, timeout=timeout)
    if "coap" in protocols:
        text += IMPATIENT
    # At night the experiments share the CPUs: with one trial at a time a block that is late for that is not run again.
    bench.measure_experiment(text, "--jobs", "1", timeout_s=1200)
    found = confirmations(bench)
    # More if a busy machine made blocks run again.
    assert len(found) >= 4 * len(protocols)
    assert [each for each in found if each["not_confirmed"] or each["not_checked"]] == []
    checked = sum(each["checked"] for each in found)
    print(f"{checked} exchanges of {names} are confirmed")
    # Of raw-udp, 10 % loss each way times out one exchange in five where it is lossy.
    assert checked > 0.8 * len(found) * exchanges
