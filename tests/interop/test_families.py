"""The same exchanges over IPv4 and over IPv6."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

EXCHANGES = 5
REPLICATES = 2
EXPERIMENT = """
title = "families"
[factors]
protocol = {protocols}
"link.family" = ["ipv4", "ipv6"]
[link]
rtt = "10 ms"
[endpoints]
client = {{ implementation = "{client}" }}
server = {{ implementation = "{server}" }}
[workload]
kind = "request-response"
upload = "3.5 kB"
connection = "new"
exchanges = {exchanges}
timeout = "20 s"
[stop]
replicates = {replicates}
"""


def campaign(bench: Bench, protocols: list[str], client: str, server: str) -> pl.DataFrame:
    """Run it; its exchanges with the protocol and family of each."""
    text = EXPERIMENT.format(
        protocols=json.dumps(protocols), client=client, server=server, exchanges=EXCHANGES, replicates=REPLICATES
    )
    bench.measure_experiment(text, "--jobs", "2")
    words = [path.read_text()[-500:] for path in bench.campaign.glob("trials/*/*/stderr.txt")]
    assert set(bench.statuses().values()) == {"done"}, words
    bench.assert_nothing_left()
    scenarios = json.loads((bench.campaign / "plan.json").read_text())["scenarios"]
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet")
    return rows.with_columns(
        protocol=pl.col("scenario").replace_strict({s["key"]: s["protocol"] for s in scenarios}),
        family=pl.col("scenario").replace_strict({s["key"]: s["link"].get("family", "ipv4") for s in scenarios}),
    )


def check(rows: pl.DataFrame, protocols: list[str]) -> None:
    """Every exchange completed, and its packets were seen, with longer headers over IPv6."""
    assert len(rows) == len(protocols) * 2 * REPLICATES * EXCHANGES
    assert rows["error"].drop_nulls().to_list() == []
    assert set(rows["outcome"]) == {"completed"}
    assert rows["end_to_end_delay_ns"].min() >= 10_000_000
    assert rows["lost_packets"].max() == 0
    for protocol in protocols:
        ipv4, ipv6 = (
            rows.filter((pl.col("protocol") == protocol) & (pl.col("family") == family)) for family in ("ipv4", "ipv6")
        )
        assert len(ipv4) == len(ipv6) == REPLICATES * EXCHANGES
        # The least: an acknowledgement more or less depends on the moment.
        assert ipv6["wire_up_bytes"].min() > ipv4["wire_up_bytes"].min(), protocol


def test_built_in_protocols_exchange_over_both_families(bench: Bench) -> None:
    protocols = ["http1", "h2", "h3"]
    check(campaign(bench, protocols, "builtin", "builtin"), protocols)
    host = json.loads((bench.campaign / "campaign.json").read_text())["host"]
    [server] = host["links"][0]["far"]
    assert server == {"host": "server", "ipv4": "10.77.0.2", "ipv6": "fd77::2"}


@pytest.mark.curl
@pytest.mark.nginx
def test_curl_talks_to_nginx_over_both_families(bench: Bench) -> None:
    protocols = ["http1", "h2"]
    check(campaign(bench, protocols, "curl", "nginx"), protocols)
