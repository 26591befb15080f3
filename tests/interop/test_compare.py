"""`wirelab compare` under the virtual clock: equal runs are equal, and each change of a packet is found.

`WIRELAB_COMPARED=all` takes 200 pairs of trials in place of 20, and 20 changes in place of 5; it takes five minutes.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Bench

pytestmark = pytest.mark.guest

EXPERIMENT = """
title = "compared"
clock = "virtual"
[factors]
protocol = ["{protocol}"]
[link]
rtt = "20 ms"
loss = "2 %"
[workload]
kind = "request-response"
upload = "300 B"
connection = "new"
exchanges = 2
timeout = "20 s"
[stop]
replicates = {replicates}
"""
CHANGES = (
    ("https1", "workload.upload=301 B"), ("https1", "workload.upload=1300 B"), ("https1", "workload.download=1 B"),
    ("https1", "protocol.tls=1.2"), ("https1", "protocol.certificate-key=rsa-4096"), ("https1", "protocol.date=false"),
    ("https1", "protocol.resumption=true"), ("https1", "protocol.client-certificate=true"),
    ("https1", "protocol.expect-continue=true"), ("https1", "workload.connection=persistent"),
    ("https1", "workload.exchanges=3"), ("h3", "workload.upload=299 B"), ("h3", "protocol.retry=true"),
    ("h3", "protocol.quic-mtu-discovery=false"), ("h3", "protocol.date=false"),
    ("h3", "protocol.client-certificate=true"), ("coap", "workload.upload=30 B"), ("coap", "workload.download=1 B"),
    ("coap", "protocol.confirmable=false"), ("coap", "workload.exchanges=3"),
)  # fmt: skip
"""Protocols, and what the second of two runs sets."""
ALL = os.environ.get("WIRELAB_COMPARED") == "all"
PAIRS = 200 if ALL else 20
HARD = (3, 10, 11, 17, 18)
"""Of other lengths, of other numbers of packets, and of other contents alone."""


def run(bench: Bench, name: str, protocol: str, *sets: str, replicates: int = 2) -> Path:
    """A campaign in a folder of its own."""
    (bench.folder / f"{protocol}.toml").write_text(EXPERIMENT.format(protocol=protocol, replicates=replicates))
    folder = bench.folder / name
    arguments = [word for each in sets for word in ("--set", each)]
    code, out, words = bench.run(
        "run", f"{protocol}.toml", "--out", str(folder), "--no-probes", *arguments, timeout_s=300
    )
    assert code == 0, f"{out}{words}"
    return folder


def compared(bench: Bench, *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out, words = bench.run("compare", *arguments, "--json")
    assert out, words
    return code, json.loads(out)


def test_no_pair_of_equal_trials_differs(bench: Bench) -> None:
    first, second = (run(bench, name, "coap", replicates=PAIRS) for name in ("first", "second"))
    code, found = compared(bench, str(first), str(second))
    assert (code, found["verdict"]) == (0, "unchanged")
    [scenario] = found["scenarios"]
    assert (scenario["packets"]["trials"], scenario["packets"]["differing"]) == (PAIRS, 0)


def test_each_change_of_a_packet_is_found(bench: Bench) -> None:
    plain = {protocol: run(bench, protocol, protocol) for protocol in dict.fromkeys(each for each, _ in CHANGES)}
    missed = []
    for number, (protocol, change) in enumerate(CHANGES):
        if not ALL and number not in HARD:
            continue
        changed = run(bench, f"changed-{number}", protocol, change)
        key = change.split("=")[0].split(".")[0]
        code, found = compared(bench, str(plain[protocol]), str(changed), "--by", key)
        packets = [each["packets"] for each in found["scenarios"]]
        print(f"{protocol} {change}: {code} {packets[0]['first']}")
        if code not in {4, 5} or not all(each["differing"] and each["first"] for each in packets):
            missed.append((protocol, change))
    assert not missed


def test_a_baseline_in_one_file_finds_what_its_folder_finds(bench: Bench) -> None:
    baseline = bench.folder / "baseline.tar.xz"
    plain = run(bench, "plain", "coap")
    code, _, words = bench.run(
        "run", "coap.toml", "--out", str(plain), "--no-probes", "--keep", str(baseline), timeout_s=120
    )
    assert code == 0, words
    assert baseline.stat().st_size < 100_000
    changed = run(bench, "changed", "coap", "workload.upload=30 B")
    found = [compared(bench, str(old), str(changed), "--by", "workload") for old in (baseline, plain)]
    assert [code for code, _ in found] == [5, 5]
    assert [each["scenarios"] for _, each in found] == [found[0][1]["scenarios"]] * 2
    first = found[0][1]["scenarios"][0]["packets"]["first"]
    assert (first["packet"], first["more_bytes"]) == (1, -270)
