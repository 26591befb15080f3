"""Every protocol and implementation through a real lane, from the experiment file to the dataset."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from wirelab.schema import registered

if TYPE_CHECKING:
    from conftest import Bench

RTT_NS = 10_000_000
EXCHANGES = 3
EXPERIMENT = """
title = "interop"
[factors]
protocol = {protocols}
"workload.upload" = ["30 B", "3.5 kB"]
link = ["clean"]
[links]
clean = {{ rtt = "10 ms" }}
[endpoints]
client = {{ implementation = "{client}" }}
server = {{ implementation = "{server}" }}
[workload]
kind = "request-response"
connection = "{connection}"
exchanges = {exchanges}
timeout = "20 s"
[stop]
replicates = 2
"""
BUILTIN = [protocol.name for protocol in registered().protocols if "request-response" in protocol.workloads]
FOREIGN = ["http1", "https1", "h2c", "h2"]


def campaign(bench: Bench, protocols: list[str], client: str, server: str, connection: str = "new") -> pl.DataFrame:
    """Run it; its exchanges with the protocol of each."""
    bench.measure_experiment(
        EXPERIMENT.format(
            protocols=json.dumps(protocols), client=client, server=server, connection=connection, exchanges=EXCHANGES
        ),
        "--jobs", "2",
    )  # fmt: skip
    assert set(bench.statuses().values()) == {"done"}, tails(bench.campaign)
    plan = json.loads((bench.campaign / "plan.json").read_text())
    names = {scenario["key"]: scenario["protocol"] for scenario in plan["scenarios"]}
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet")
    bench.assert_nothing_left()
    return rows.with_columns(protocol=pl.col("scenario").replace_strict(names))


def tails(folder: Path) -> str:
    return "\n".join(f"{path}: {path.read_text()[-500:]}" for path in sorted(folder.glob("trials/*/*/stderr.txt")))


def check(rows: pl.DataFrame, protocols: list[str]) -> None:
    """Every exchange completed, no faster than its round trips allow, and its packets were seen."""
    assert sorted(rows["protocol"].unique()) == sorted(protocols)
    assert len(rows) == len(protocols) * 2 * 2 * EXCHANGES
    assert rows["error"].drop_nulls().to_list() == []
    assert set(rows["outcome"]) == {"completed"}
    assert rows["end_to_end_delay_ns"].min() >= RTT_NS
    assert rows["wire_up_bytes"].min() > 30
    assert rows["wire_down_packets"].min() >= 1
    assert rows["round_trips"].min() >= 1
    assert rows["lost_packets"].max() == 0


@pytest.mark.namespaces
def test_every_builtin_protocol_works_over_new_connections(bench: Bench) -> None:
    rows = campaign(bench, BUILTIN, "builtin", "builtin")
    check(rows, BUILTIN)
    connects = {protocol.name: protocol.transport == "tcp" for protocol in registered().protocols}
    secure = {protocol.name: protocol.secure for protocol in registered().protocols}
    for protocol, part in rows.partition_by("protocol", as_dict=True).items():
        name = str(protocol[0])
        assert (part["phase_connect_ns"].null_count() == 0) == connects[name], name
        assert (part["phase_handshake_ns"].null_count() == 0) == secure[name], name
    trials = pl.read_parquet(bench.campaign / "trials.parquet")
    assert trials["lateness_p99_ns"].null_count() == 0
    assert trials["up_lost"].sum() == 0


@pytest.mark.namespaces
def test_every_builtin_protocol_works_over_a_persistent_connection(bench: Bench) -> None:
    rows = campaign(bench, BUILTIN, "builtin", "builtin", "persistent")
    check(rows, BUILTIN)
    later = rows.filter((pl.col("index") > 0) & ~pl.col("protocol").str.starts_with("raw-udp"))
    assert later["connection_reused"].all()
    assert later["phase_connect_ns"].null_count() == len(later)


@pytest.mark.namespaces
@pytest.mark.curl
def test_curl_talks_to_our_server(bench: Bench) -> None:
    rows = campaign(bench, FOREIGN, "curl", "builtin")
    check(rows, FOREIGN)
    assert rows["curl_starttransfer_ns"].null_count() == 0


@pytest.mark.namespaces
@pytest.mark.nginx
@pytest.mark.parametrize("connection", ["new", "persistent"])
def test_our_client_talks_to_nginx(bench: Bench, connection: str) -> None:
    check(campaign(bench, FOREIGN, "builtin", "nginx", connection), FOREIGN)


@pytest.mark.namespaces
@pytest.mark.curl
@pytest.mark.nginx
def test_curl_talks_to_nginx(bench: Bench) -> None:
    check(campaign(bench, FOREIGN, "curl", "nginx"), FOREIGN)


@pytest.mark.curl
def test_protocols_that_curl_does_not_speak_are_refused_before_anything_starts(bench: Bench) -> None:
    protocols = json.dumps(["http1", "h3"])
    text = EXPERIMENT.format(protocols=protocols, client="curl", server="builtin", connection="new", exchanges=1)
    status, _, words = bench.run("run", str(bench.experiment(text)), "--out", str(bench.campaign))
    assert status == 2
    assert "curl is not a client of h3" in words
    assert not bench.campaign.exists()


OWN_SERVER = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

HTTPServer((sys.argv[1], int(sys.argv[2])), Server).serve_forever()
"""


@pytest.mark.namespaces
def test_a_users_server_needs_only_a_file_next_to_the_experiment(bench: Bench) -> None:
    script = bench.folder / "server.py"
    script.write_text(OWN_SERVER)
    python = json.dumps(sys.executable)
    (bench.folder / "implementations.toml").write_text(f"""
[mine]
title = "Mine"
homepage = "https://example.org"
install = "it is beside the experiment"
version_command = [{python}, "--version"]
[mine.roles.server]
protocols = ["http1"]
command = [{python}, {json.dumps(str(script))}, "{{{{ address }}}}", "{{{{ port }}}}"]
ready = "tcp-connect"
""")
    check(campaign(bench, ["http1"], "builtin", "mine"), ["http1"])
    facts = json.loads((bench.campaign / "campaign.json").read_text())
    assert facts["implementations"]["mine"]["version"].startswith("Python 3")
