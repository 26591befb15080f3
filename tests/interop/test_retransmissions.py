"""What is retransmitted although nothing was lost: timers that a long link outlasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

EXPERIMENT = """
title = "a second each way"
[factors]
protocol = ["http1", "coap", "h3"]
link = ["near", "far"]
[links]
near = { delay = "10 ms" }
far = { delay = "1 s" }
[protocols.coap]
ack-timeout = "1 s"
[workload]
kind = "request-response"
upload = "30 B"
connection = "new"
exchanges = 2
timeout = "30 s"
[stop]
replicates = 1
"""


def test_a_delay_of_a_second_makes_tcp_and_coap_retransmit_spuriously(bench: Bench) -> None:
    bench.measure_experiment(EXPERIMENT, "--jobs", "3")
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet")
    assert set(rows["outcome"]) == {"completed"}
    seen = {
        (row["trial"].split("-")[0], row["far"]): row["spurious"]
        for row in rows.group_by("trial", (pl.col("end_to_end_delay_ns") > 10**9).alias("far"))
        .agg(pl.col("spurious_retransmissions").min().alias("spurious"))
        .to_dicts()
    }
    assert seen.pop(("h3", True)) is None
    assert seen.pop(("h3", False)) is None
    # The initial time-out is 1 s (RFC 6298): the SYN goes out again before its answer, two seconds later, can be there.
    assert seen.pop(("http1", True)) >= 1
    assert seen.pop(("coap", True)) >= 1
    assert seen == {("http1", False): 0, ("coap", False): 0}
