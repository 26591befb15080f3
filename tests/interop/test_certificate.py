"""A certificate of a real link on this machine. Its figures are live time; what must hold is that it is whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Bench

ROOT = Path(__file__).parents[2]

LINK = "{ rtt = '40 ms', rate = '2 Mbit/s', queue = '64 kB', loss = '5 %' }"


@pytest.mark.namespaces
def test_a_link_is_certified_with_every_packet_accounted_for(bench: Bench, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wirelab", "calibrate", LINK, "--time", "4s", "--seed", "7", "--json"]
    environment = {**os.environ, "WIRELAB_AGENT": str(bench.agent), "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [*command, "--keep", str(tmp_path / "kept")], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads(done.stdout)
    lines = {(line["direction"], line["name"]): line for line in found["lines"]}
    for name in ("unaccounted", "replay mismatches"):
        assert lines["both", name]["verdict"] == "in", lines["both", name]["why"]
    for direction in ("uplink", "downlink"):
        assert lines[direction, "rate"]["configured"] == 2e6
        assert lines[direction, "loss"]["configured"] == 0.05
        # The draws are the seed's; the losses of so many packets are the same wherever it runs.
        assert lines[direction, "loss"]["verdict"] in {"in", "open"}
        assert lines[direction, "loss runs"]["verdict"] == "in"
        assert lines[direction, "delay"]["measured"]["n"] > 50
    assert found["machine"]["cpus"] >= 1
    assert (tmp_path / "kept" / "packets.wlpl").exists()
    reported = done.stderr.splitlines()
    assert reported[0].startswith("probing: delay, both ways  about 5 s left")
    assert reported[-1] == "judging"


STARVED = """
title = "what endpoints wait for"
[factors]
protocol = ["raw-udp", "http1"]
link = ["clean"]
[links]
clean = { rtt = "10 ms" }
[workload]
kind = "request-response"
upload = "30 B"
exchanges = 10
[stop]
replicates = 2
"""


@pytest.mark.namespaces
def test_a_campaign_measures_the_cpu_waiting_of_its_endpoints(bench: Bench) -> None:
    bench.measure_experiment(STARVED, "--jobs", "1", "--estimates")
    estimates = json.loads((bench.campaign / "estimates.json").read_text())
    for scenario in estimates["scenarios"]:
        # How long it was is the machine's; that somebody waited, if only to be started, is not.
        assert scenario["endpoints"]["wait_s"] > 0
        assert scenario["endpoints"]["steal"] is not None
