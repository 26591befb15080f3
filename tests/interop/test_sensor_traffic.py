"""A sensor on the virtual clock, in bytes: the same ones again, and as many as Wireshark counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.interop.covering import nightly
from tests.interop.wireshark import tshark

from wirelab.answer.choose.measured import measured
from wirelab.metrics.ledger import PARTS
from wirelab.stats.dataset import Dataset

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = [pytest.mark.guest, pytest.mark.tshark]

ETHERNET = 14
DAY, WEEK, MONTH = 24, 168, 720
EXPERIMENT = """
title = "a sensor"
clock = "virtual"
capture = true
[factors]
protocol = ["coap", "mqtts", "https1", "h3"]
[link]
rtt = "200 ms"
loss = "2 %"
[protocols.mqtts]
keep-alive = "{keep_alive}"
[workload]
kind = "telemetry"
message = "64 B"
interval = "1 h"
exchanges = {exchanges}
connection = "{connection}"
timeout = "60 s"
[stop]
replicates = 1
"""


def flows(folder: Path, way: str) -> Counter[int]:
    """IP bytes that one end of a trial sent, by the client's port."""
    end, port = ("client", "srcport") if way == "up" else ("server", "dstport")
    query = "frame.packet_flags_direction == 2 && ip && !icmp"
    found: Counter[int] = Counter()
    for length, *ports in tshark(folder / f"{end}.pcapng", query, "frame.len", f"tcp.{port}", f"udp.{port}"):
        found[int("".join(ports))] += int(length) - ETHERNET
    return found


@pytest.mark.parametrize(
    ("exchanges", "connection"), [(DAY, "persistent"), nightly(MONTH, "persistent"), nightly(WEEK, "new")]
)
def test_wireshark_counts_the_bytes_of_each_connection(bench: Bench, exchanges: int, connection: str) -> None:
    # A ping each minute of a month takes more time than everything else.
    values = {"exchanges": exchanges, "connection": connection, "keep_alive": "60 s" if exchanges == DAY else "15 min"}
    bench.measure_experiment(EXPERIMENT.format(**values), timeout_s=900)
    trials = pl.read_parquet(bench.campaign / "trials.parquet")
    rows = pl.read_parquet(bench.campaign / "exchanges.parquet")
    ledger = pl.read_parquet(bench.campaign / "ledger.parquet")
    assert trials["status"].to_list() == ["done"] * 4
    for trial in trials.to_dicts():
        name = trial["trial"]
        folder = bench.campaign / "trials" / name
        mine = rows.filter(trial=name).group_by("local_port").agg(pl.col("wire_up_bytes", "wire_down_bytes").sum())
        for way in ("up", "down"):
            counted = flows(folder, way)
            assert counted.total() == trial[f"{way}_received_bytes"], (name, way)
            assert {row["local_port"]: round(row[f"wire_{way}_bytes"]) for row in mine.to_dicts()} == counted, name
            [parts] = ledger.filter(trial=name, direction=way).to_dicts()
            assert sum(parts[part] for part in PARTS) == counted.total(), (name, way)
            assert parts["sealed"] == 0, (name, way)
    if exchanges == DAY:
        status, out, words = bench.run("verify", str(bench.campaign), "--again")
        assert status == 0, words
        assert out.splitlines()[1:] == ["the same bytes in every record of 4 trials"]


THIRD_PARTY = """
title = "a sensor of somebody else's"
clock = "virtual"
capture = true
[factors]
protocol = ["coap", "http1", "mqtt"]
[link]
rtt = "200 ms"
[protocols.coap]
client.implementation = "libcoap"
[protocols.http1]
client.implementation = "curl"
[protocols.mqtt]
client.implementation = "mosquitto"
[workload]
kind = "telemetry"
message = "64 B"
interval = "1 h"
exchanges = {exchanges}
connection = "new"
timeout = "60 s"
[stop]
replicates = 1
"""


@pytest.mark.parametrize("exchanges", [DAY, nightly(WEEK)])
def test_a_years_bytes_are_those_that_wireshark_counts_of_third_party_clients(bench: Bench, exchanges: int) -> None:
    """What `choose` takes for a message, repeated for a year, next to all that the client's end sent and received."""
    bench.measure_experiment(THIRD_PARTY.format(exchanges=exchanges), timeout_s=900)
    dataset = Dataset.read(bench.campaign)
    found = measured(dataset, {}, None)
    for trial in pl.read_parquet(bench.campaign / "trials.parquet").to_dicts():
        folder = bench.campaign / "trials" / trial["trial"]
        counted = sum(flows(folder, way).total() for way in ("up", "down"))
        one = found[trial["scenario"]]
        # Its first is left out.
        assert (one.messages, one.lost) == (exchanges - 1, 0), trial["trial"]
        [message] = one.data_bytes.values()
        assert message * exchanges == pytest.approx(counted, rel=0.02), trial["trial"]
