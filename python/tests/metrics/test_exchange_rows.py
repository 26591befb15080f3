"""Exchanges as rows of `exchanges.parquet`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.metrics.conftest import Build
from tests.metrics.records import IN_TURN, MS, Records, exchange, flow
from wirelab.metrics.dataset import build
from wirelab.metrics.tables import write_table
from wirelab.stats.dataset import Dataset as Samples


def test_rows_of_a_version_with_one_set_of_columns_are_read(records: Records, built: Build) -> None:
    records.trial("s", [exchange(curl_starttransfer_ns=7, copies=None, connections=None, pushed_bytes=None)])
    row = built(records).exchanges.row(0, named=True)
    assert row["curl_starttransfer_ns"] == 7
    assert "copies" not in row


def test_the_bytes_of_a_new_connection_belong_to_its_exchange(records: Records, built: Build) -> None:
    records.trial(
        "s", [exchange(0), exchange(1)], [flow(40_000), flow(40_001, bytes=[70, 50]), flow(None, transport="icmp")]
    )
    rows = built(records).exchanges
    assert rows["wire_up_bytes"].to_list() == [700, 70]
    assert rows["wire_down_packets"].to_list() == [5, 5]
    assert rows["retransmissions"].to_list() == [1, 1]
    assert rows["lost_packets"].to_list() == [1, 1]


def test_the_drops_of_an_exchange_under_netem_are_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Records(tmp_path, {"s": {"link": {"uplink": [], "downlink": [], "backend": "netem"}}, "t": {}})
    for scenario in ("s", "t"):
        records.trial(scenario, [exchange()], [flow(40_000)])
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    rows = build(records.folder).exchanges.sort("scenario")
    assert rows["lost_packets"].to_list() == [None, 1]
    assert rows["spurious_retransmissions"].to_list() == [None, 0]
    assert rows["round_trips"].to_list() == [None, 4]
    assert rows["wire_up_bytes"].to_list() == [700, 700]


def test_exchanges_share_the_bytes_of_a_persistent_connection(records: Records, built: Build) -> None:
    records.trial("s", [exchange(i, local_port=40_000) for i in range(4)], [flow(40_000)])
    assert built(records).exchanges["wire_up_bytes"].to_list() == [175.0] * 4


def test_two_packets_in_turn_are_a_round_trip_of_those_that_share_the_connection(
    records: Records, built: Build
) -> None:
    rows = [exchange(0), exchange(1, local_port=40_001), exchange(2, local_port=40_001), exchange(3, local_port=None)]
    records.trial("s", rows, [flow(40_000, turns=7), flow(40_001, turns=6)])
    assert built(records).exchanges["round_trips"].to_list() == [3.5, 1.5, 1.5, None]


def test_over_quic_retransmissions_are_the_packets_that_the_client_declared_lost(
    records: Records, built: Build
) -> None:
    records.trial("s", [exchange(client_retransmissions=3)], [flow(40_000, transport="udp", retransmissions=[0, 0])])
    assert built(records).exchanges["retransmissions"].to_list() == [3]


def test_spurious_retransmissions_are_shared_and_unknown_if_packets_do_not_show_them(
    records: Records, built: Build
) -> None:
    flows = [
        flow(40_000, spurious=[2, 1]),
        flow(40_001, transport="udp", retransmissions=[1, 0], spurious=[1, 0]),
        flow(40_002, transport="udp", retransmissions=None, spurious=None),
    ]
    records.trial("s", [exchange(0), exchange(1, local_port=40_000), exchange(2, local_port=40_001),
                        exchange(3, local_port=40_002)], flows)  # fmt: skip
    assert built(records).exchanges["spurious_retransmissions"].to_list() == [1.5, 1.5, 1, None]


def test_an_exchange_without_a_port_has_no_wire_bytes_but_its_trial_has(records: Records, built: Build) -> None:
    records.trial("s", [exchange(local_port=None)], [flow(40_000)])
    dataset = built(records)
    assert dataset.exchanges["wire_up_bytes"].to_list() == [None]
    assert dataset.trials["wire_up_bytes"].to_list() == [700]


def test_an_arrow_file_and_lines_of_json_give_the_same_rows(records: Records, built: Build) -> None:
    rows = [exchange(0), exchange(1, first_final_byte_ns=None, outcome="failed", error="reset")]
    records.trial("s", rows, [flow(40_000), flow(40_001)])
    from_lines = built(records).exchanges
    client = records.folder / "trials" / "trial-0" / "client"
    (client / "exchanges.jsonl").unlink()
    pl.DataFrame(rows, infer_schema_length=None).write_ipc(client / "exchanges.arrow")
    assert build(records.folder).exchanges.equals(from_lines)


def test_each_exchange_has_its_size_and_each_size_its_own_delays(tmp_path: Path, built: Build) -> None:
    records = Records(tmp_path / "campaign", {"s": {"workload": IN_TURN}, "t": {}})
    rows = [exchange(i, end_ns=100 * (i + 1)) for i in range(3)]
    records.trial("s", [*rows, exchange(3, outcome="timed-out", end_ns=1000)], [flow(40_000)])
    records.trial("t", [exchange(0)], [flow(40_000)])
    both = built(records).exchanges
    seen = both.filter(pl.col("scenario") == "s").sort("index")
    assert seen["download_bytes"].to_list() == [11_000_000, 612, 11_000_000, 612]
    assert seen["end_to_end_delay_largest_ns"].to_list() == [100 * MS, None, 300 * MS, None]
    assert seen["end_to_end_delay_smallest_ns"].to_list() == [None, 200 * MS, None, None]
    assert seen["response_time_largest_ns"].to_list() == [62 * MS, None, 62 * MS, None]
    alike = both.filter(pl.col("scenario") == "t")
    assert alike.select("download_bytes", "end_to_end_delay_largest_ns").row(0) == (0, None)


def test_a_timeout_counts_for_its_own_size(tmp_path: Path, built: Build) -> None:
    records = Records(tmp_path / "campaign", {"s": {"workload": IN_TURN}})
    records.trial("s", [exchange(0, outcome="timed-out"), exchange(1)], [flow(40_000)])
    dataset = built(records)
    dataset.exchanges.pipe(write_table, records.folder / "exchanges.parquet")
    dataset.trials.pipe(write_table, records.folder / "trials.parquet")
    measured = {one.metric.name: one.sample for one in Samples.read(records.folder).measured("s")}
    assert measured["end-to-end-delay"].censored == (1,)
    assert Samples.read(records.folder).downloads("s") == {
        "largest": {"bytes": 11_000_000, "exchanges": 1, "completed": 0, "timed-out": 1},
        "smallest": {"bytes": 612, "exchanges": 1, "completed": 1, "timed-out": 0},
    }
    assert (measured["end-to-end-delay-largest"].n, measured["end-to-end-delay-largest"].censored) == (1, (1,))
    assert (measured["end-to-end-delay-smallest"].n, measured["end-to-end-delay-smallest"].censored) == (1, (0,))


def test_throughput_is_what_all_exchanges_of_a_trial_carried_in_its_time(records: Records, built: Build) -> None:
    rows = [
        exchange(0, outcome="timed-out", body_received_bytes=70),
        exchange(1, body_received_bytes=970),
        exchange(2, body_received_bytes=970, end_ns=300),
    ]
    records.trial("s", rows, [flow(40_000)])
    # From the start of the first to the end of the last, 500 ms: 2010 bytes received and 3 x 30 sent.
    assert built(records).exchanges["throughput_bps"].to_list() == [None, 2100 * 8 / 0.5, None]


def test_wire_bytes_are_those_of_both_ways(records: Records, built: Build) -> None:
    records.trial("s", [exchange(0)], [flow(40_000)])
    assert built(records).exchanges["wire_bytes"].to_list() == [1200]
