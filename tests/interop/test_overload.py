"""A client that offers more than its places can carry is named as such, with both rates and without a ratio."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Bench

EXPERIMENT = """
title = "overload"
clock = "{clock}"
[factors]
protocol = ["coap"]
[link]
rtt = "100 ms"
[workload]
kind = "telemetry"
message = "64 B"
arrival = {{ fixed = "50 /s" }}
concurrency = 1
connection = "persistent"
exchanges = 40
timeout = "20 s"
[stop]
replicates = 2
"""


@pytest.mark.parametrize(
    "clock", [pytest.param("live", marks=pytest.mark.namespaces), pytest.param("virtual", marks=pytest.mark.guest)]
)
def test_an_overloaded_client_is_named_with_both_rates(clock: str, bench: Bench) -> None:
    bench.measure_experiment(EXPERIMENT.format(clock=clock))
    for verb in ("analyze", "report"):
        status, _, words = bench.run(verb, str(bench.campaign))
        assert status == 0, words
    estimates = json.loads((bench.campaign / "estimates.json").read_text(encoding="utf-8"))
    [scenario] = estimates["scenarios"]
    found = scenario["offered"]
    assert estimates["comparisons"] == []
    assert (found["keeps_up"], round(found["offered_hz"], 2)) == (False, 50.0)
    # Whatever else the machine does: one message at a time takes a round trip or more.
    assert found["served_hz"] < 10
    assert found["growth"]["places"] > 0.5
    page = (bench.campaign / "report.html").read_text(encoding="utf-8")
    [served] = set(re.findall(r"coap: 50 /s offered, ([\d.]+) /s served \(", page))
    assert float(served) == pytest.approx(found["served_hz"], abs=0.05)
    assert "Delays grow without end and are not compared." in page
    assert "times as long" not in page
    if clock == "virtual":
        assert (found["limit"], found["why"]) == ("protocol", "at most 1 message at a time on 1 persistent connection")
        assert found["cure"] == "raise protocols.coap.nstart to 6, and raise workload.concurrency to 6"
        assert found["served_hz"] == pytest.approx(9.8, abs=0.3)
