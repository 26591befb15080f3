"""Several hosts, two links, a proxy between them and background traffic next to them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

EXCHANGES = 10
EXPERIMENT = f"""
title = "topologies"
[factors]
protocol = ["http1", "coap"]
"traffic.bulk.flows" = [0, 2]
[link]
rtt = "4 ms"
medium = {{ kind = "serialiser", rate = "4 Mbit/s", queue = "20 kB" }}
[links]
wire = {{ rtt = "2 ms" }}
[topology]
air = {{ near = ["client", "laptop"], far = ["server", "proxy"] }}
wire = {{ near = ["proxy"], far = ["server"] }}
[endpoints.proxy]
protocols = ["coap"]
[traffic.bulk]
kind = "bulk"
from = "laptop"
stagger = "100 ms"
[workload]
kind = "request-response"
upload = "30 B"
exchanges = {EXCHANGES}
[stop]
replicates = 1
"""


def test_stations_share_the_air_and_a_proxy_joins_two_links(bench: Bench) -> None:
    bench.measure_experiment(EXPERIMENT, "--jobs", "1")
    words = [path.read_text()[-500:] for path in bench.campaign.glob("trials/*/*/stderr.txt")]
    assert set(bench.statuses().values()) == {"done"}, words
    bench.assert_nothing_left()
    scenarios = {s["key"]: s for s in json.loads((bench.campaign / "plan.json").read_text())["scenarios"]}
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet")
    trials = pl.read_parquet(bench.campaign / "trials.parquet")
    assert set(rows["outcome"]) == {"completed"}
    assert trials["replay_mismatches"].to_list() == [0] * 4
    assert len(list(bench.campaign.glob("trials/*/packets-wire.wlpl"))) == 4
    for trial in trials.iter_rows(named=True):
        scenario = scenarios[trial["scenario"]]
        own = rows.filter(pl.col("trial") == trial["trial"])
        result = json.loads((bench.campaign / "trials" / trial["trial"] / "result.json").read_text())
        carried = sum(way["delivered"] for way in result["other_links"]["wire"]["directions"])
        # Only CoAP's clients ask the proxy, which asks the server: 4 ms on the air, and 2 ms on the wire.
        through_proxy = scenario["protocol"] == "coap"
        assert (carried > 0) == through_proxy
        assert own["end_to_end_delay_ns"].min() >= (6_000_000 if through_proxy else 4_000_000)
        busy = scenario["levels"]["traffic.bulk.flows"] > 0
        assert (trial["background_bps"] is not None) == busy
        if busy:
            assert trial["background_bps"] > 1_000_000
        # What other stations send is not the client's.
        assert own["wire_up_bytes"].max() < 2_000
        assert trial["wire_up_bytes"] < 2_000 * EXCHANGES


FOREIGN = """
title = "a foreign origin"
[factors]
protocol = ["coap", "coaps", "coap+tcp"]
"server.implementation" = ["builtin", "nginx"]
[link]
rtt = "4 ms"
[links]
wire = { rtt = "2 ms" }
[protocol]
cache = true
[topology]
air = { near = ["client"], far = ["proxy"] }
wire = { near = ["proxy"], far = ["server"] }
[endpoints.proxy]
protocols = ["coap", "coaps", "coap+tcp"]
[workload]
kind = "request-response"
download = "3 kB"
exchanges = 5
[stop]
replicates = 1
"""


@pytest.mark.nginx
def test_a_proxy_caches_answers_of_any_origin(bench: Bench) -> None:
    bench.measure_experiment(FOREIGN, "--jobs", "1")
    assert set(bench.statuses().values()) == {"done"}
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert set(rows["outcome"]) == {"completed"}
    asked = rows.group_by("trial").agg(pl.col("origin_time_ns").count(), pl.col("proxy_time_ns").count())
    # The others come from the cache.
    assert sorted(asked.select("origin_time_ns", "proxy_time_ns").rows()) == [(1, 5)] * 6
    bench.assert_nothing_left()
