"""Our phase timings beside curl's, against the same server over the same link. Prints; what it finds is live time.

curl's TLS handshake is 1 to 2 ms longer: a new process sets OpenSSL up between connecting and ClientHello. The packet
log shows it (`wirelab show`): about 1.7 ms from the ACK of the SYN to the ClientHello, against 0.4 ms of ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from conftest import Bench

RELATIVE, ABSOLUTE_NS = 0.03, 1_000_000
EXPERIMENT = """
title = "calibration"
[factors]
stack = ["http1", "https1", "h2"]
"client.implementation" = ["builtin", "curl"]
link = ["clean"]
[links]
clean = { rtt = "20 ms" }
[endpoints]
server = { implementation = "nginx" }
[workload]
kind = "request-response"
upload = "30 B"
connection = "fresh"
exchanges = 30
timeout = "20 s"
[stop]
replicates = 3
"""
METRICS = ("phase_connect", "phase_handshake", "response_time_curl", "end_to_end_delay")


@pytest.mark.namespaces
@pytest.mark.curl
@pytest.mark.nginx
def test_our_phases_stand_beside_curls(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.run_experiment(EXPERIMENT, "--lanes", "1")
    plan = json.loads((bench.campaign / "plan.json").read_text())
    who = pl.DataFrame(
        [(s["key"], s["stack"], s["implementation"]["client"]) for s in plan["scenarios"]],
        schema=["scenario", "stack", "client"],
        orient="row",
    )
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet").join(who, on="scenario")
    medians = rows.group_by("stack", "client").agg(pl.col(f"{name}_ns").median() for name in METRICS)
    by_end = {(row["stack"], row["client"]): row for row in medians.to_dicts()}
    with capsys.disabled():
        print(f"\n{'stack':7} {'metric':20} {'ours ms':>9} {'curl ms':>9} {'differs':>9}  within 3 % or 1 ms")
        for stack in ("http1", "https1", "h2"):
            for name in METRICS:
                print(_line(stack, name, by_end[stack, "builtin"][f"{name}_ns"], by_end[stack, "curl"][f"{name}_ns"]))
    assert set(by_end) == {(stack, client) for stack in ("http1", "https1", "h2") for client in ("builtin", "curl")}
    assert all(row["end_to_end_delay_ns"] is not None for row in by_end.values())


def _line(stack: str, name: str, ours_ns: float | None, curls_ns: float | None) -> str:
    if ours_ns is None or curls_ns is None:
        return f"{stack:7} {name:20} {'-':>9} {'-':>9} {'-':>9}  {'neither has it' if ours_ns is curls_ns else 'no'}"
    differs = ours_ns - curls_ns
    verdict = "yes" if abs(differs) <= max(RELATIVE * curls_ns, ABSOLUTE_NS) else "no"
    return f"{stack:7} {name:20} {ours_ns / 1e6:9.3f} {curls_ns / 1e6:9.3f} {differs / 1e6:+9.3f}  {verdict}"
