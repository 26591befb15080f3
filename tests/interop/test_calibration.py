"""Our phase timings next to curl's, against the same server over the same link. Prints; what it finds is live time.

The TLS handshake of a new curl process is 1 to 3 ms longer: it sets OpenSSL up between connecting and ClientHello. The
packet log shows it (`wirelab show`). So curl stands here twice: as it is used, a process for each exchange, and as
`curl-warm`, the second transfer of a process, on a connection of its own and without resumption, as ours are;
of that one only durations hold, for its instants count from the start of the transfer.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.interop.covering import nightly

if TYPE_CHECKING:
    from conftest import Bench

RELATIVE, ABSOLUTE_NS = 0.03, 1_000_000
RTT_NS = 20_000_000
EXPERIMENT = """
title = "calibration"
[factors]
protocol = ["http1", "https1", "h2"]
"client.implementation" = ["builtin", "curl", "curl-warm"]
link = ["clean"]
[links]
clean = {{ rtt = "20 ms" }}
[endpoints]
server = {{ implementation = "nginx" }}
[workload]
kind = "request-response"
upload = "30 B"
connection = "new"
exchanges = {exchanges}
timeout = "20 s"
[stop]
replicates = {replicates}
"""
PROTOCOLS = ("http1", "https1", "h2")
CURLS = ("curl", "curl-warm")
METRICS = ("phase_connect", "phase_handshake", "response_time_curl", "end_to_end_delay")


@pytest.mark.namespaces
@pytest.mark.curl
@pytest.mark.nginx
@pytest.mark.parametrize(("exchanges", "replicates"), [(10, 1), nightly(30, 3)])
def test_our_phases_agree_with_curls(
    bench: Bench, capsys: pytest.CaptureFixture[str], exchanges: int, replicates: int
) -> None:
    (bench.folder / "implementations.toml").write_text(_curl_warm())
    bench.measure_experiment(EXPERIMENT.format(exchanges=exchanges, replicates=replicates), "--jobs", "1")
    plan = json.loads((bench.campaign / "plan.json").read_text())
    who = pl.DataFrame(
        [(s["key"], s["protocol"], s["implementation"]["client"]) for s in plan["scenarios"]],
        schema=["scenario", "protocol", "program"],
        orient="row",
    )
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet").join(who, on="scenario")
    medians = rows.group_by("protocol", "program").agg(pl.col(f"{name}_ns").median() for name in METRICS)
    by_end = {(row["protocol"], row["program"]): row for row in medians.to_dicts()}
    with capsys.disabled():
        print(f"\n{'protocol':7} {'metric':20} {'ours ms':>9} {'curl ms':>9} {'differs':>9}  within 3 % or 1 ms")
        for client in CURLS:
            print(client)
            for protocol in PROTOCOLS:
                for name in METRICS:
                    print(
                        _line(
                            protocol,
                            name,
                            by_end[protocol, "builtin"][f"{name}_ns"],
                            by_end[protocol, client][f"{name}_ns"],
                        )
                    )
    assert set(by_end) == {(protocol, client) for protocol in PROTOCOLS for client in ("builtin", *CURLS)}
    # Each has its own connection and its own handshake: one round trip, of TLS 1.3 one more.
    assert all(row["phase_connect_ns"] >= RTT_NS for row in by_end.values())
    assert all(row["phase_handshake_ns"] >= RTT_NS for (protocol, _), row in by_end.items() if protocol != "http1")
    assert all(row["end_to_end_delay_ns"] is not None for row in by_end.values())


def _curl_warm() -> str:
    """The catalogue's curl, with a transfer before the one that counts: from a host whose connection it cannot use."""
    catalogue = resources.files("wirelab.data").joinpath("implementations.toml").read_text(encoding="utf-8")
    curl = catalogue[catalogue.index("[curl]") : catalogue.index("[nginx]")].replace("[curl", "[curl-warm")
    # Only the catalogue's own entries name its scripts so.
    curl = curl.replace("{{ scripts }}", str(resources.files("wirelab.data").joinpath("clients")))
    start = '"curl", "--disable", "--silent",'
    assert start in curl
    options = '"--insecure", "--max-time", "20", "--noproxy", "*", "--output", "/dev/null"'
    warm_up = f"http{{{{ 's' if protocol != '{PROTOCOLS[0]}' }}}}://{{{{ address }}}}:{{{{ port }}}}/"
    return curl.replace(start, f'{start} {options}, "{warm_up}", "--next", "--silent",')


def _line(protocol: str, name: str, ours_ns: float | None, curls_ns: float | None) -> str:
    if ours_ns is None or curls_ns is None:
        return f"{protocol:7} {name:20} {'-':>9} {'-':>9} {'-':>9}  {'neither has it' if ours_ns is curls_ns else 'no'}"
    differs = ours_ns - curls_ns
    verdict = "yes" if abs(differs) <= max(RELATIVE * curls_ns, ABSOLUTE_NS) else "no"
    return f"{protocol:7} {name:20} {ours_ns / 1e6:9.3f} {curls_ns / 1e6:9.3f} {differs / 1e6:+9.3f}  {verdict}"
