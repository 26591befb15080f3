"""Lost packets enumerated with real stacks in guests: next to theory, and pure whatever ran before."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wirelab.schema.exact import EXACT, Exact, ExactBounds, read_exact

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.guest

PROTOCOLS = ("coap", "http1")


def _enumerated(bench: Bench, folder: Path, *options: str, timeout_s: int = 400) -> Exact:
    arguments = ("exact", "--link", "20 ms", "--send", "30B", "--out", str(folder), *options)
    code, _, words = bench.run(*arguments, timeout_s=timeout_s)
    assert code == 0, words
    return read_exact(folder / EXACT)


def _beyond(record: Exact, protocol: str, loss: str, delay_s: float) -> ExactBounds:
    [found] = [
        each["bounds"]
        for scenario in record["scenarios"]
        for each in scenario["beyond"]
        if (scenario["protocol"], each["loss"], each["delay_s"]) == (protocol, loss, delay_s)
    ]
    return found


def _runs(folder: Path) -> dict[tuple[str, str], Any]:
    lines = (folder / "patterns.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    return {(row["trial"], row["name"]): row for row in map(json.loads, lines)}


def test_probabilities_are_those_of_theory_and_every_run_is_the_same_again(bench: Bench) -> None:
    options = ("--protocols", ",".join(PROTOCOLS), "--loss", "1 %", "--budget", "15 min")
    record = _enumerated(bench, bench.campaign, *options)
    assert record["bounded"]
    for loss, rate in (("0.5 %", 0.005), ("1 %", 0.01), ("2 %", 0.02)):
        # Of CoAP the request and its answer, of HTTP/1.1 also SYN and SYN-ACK.
        for protocol, packets in (("coap", 2), ("http1", 4)):
            bounds = _beyond(record, protocol, loss, 0.2)
            assert bounds["low"] - 1e-12 <= 1 - (1 - rate) ** packets <= bounds["high"] + 1e-12, (protocol, loss)
            assert bounds["high"] - bounds["low"] < 0.005
    prices = {scenario["protocol"]: scenario["packets"] for scenario in record["scenarios"]}
    assert [round(each["delay_s"] or 0) for each in prices["http1"][:2]] == [1, 1]
    assert sum((each["delay_s"] or 0) > 0.1 for each in prices["http1"]) == 4
    # The same command runs nothing again; one run at a time, in another folder and order, gives the same runs.
    before = (bench.campaign / "patterns.jsonl").read_bytes()
    _enumerated(bench, bench.campaign, *options)
    assert (bench.campaign / "patterns.jsonl").read_bytes() == before
    alone = bench.campaign.with_name("alone")
    _enumerated(bench, alone, "--protocols", "http1", "--loss", "1 %", "--jobs", "1")
    first, second = _runs(bench.campaign), _runs(alone)
    assert len(second) > 20
    common = first.keys() & second.keys()
    assert len(common) > 20
    assert all(first[name] == second[name] for name in common)
    code, out, _ = bench.run("show", str(bench.campaign), "--cost", "--protocol", "http1")
    assert code == 0
    assert out.count("+1.0") == 2 and "nothing" in out
    shutil.rmtree(alone)
    bench.assert_nothing_left()


# Datagrams with a handshake, and a session over TLS: `docs/concepts/exact.md` has six protocols.
SECURE = "coaps,mqtts"


def test_secure_protocols_are_bounded_within_a_tenth_of_a_point(bench: Bench) -> None:
    options = ("--protocols", SECURE, "--loss", "1 %", "--budget", "15 min")
    record = _enumerated(bench, bench.campaign, *options, timeout_s=1200)
    assert record["bounded"]
    for protocol in SECURE.split(","):
        for delay_s in (0.2, 1.0, 5.0):
            bounds = _beyond(record, protocol, "1 %", delay_s)
            assert bounds["high"] - bounds["low"] <= 0.001, (protocol, delay_s)
