"""Raw records to the two tables."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.metrics.records import MS, Records, exchange, flow
from wirelab.errors import WirelabError
from wirelab.metrics.dataset import Dataset, build, damage_words, measure, values_so_far
from wirelab.metrics.registry import EXCHANGE_METRICS
from wirelab.metrics.tables import write_table
from wirelab.schema import EXTENDED, exchange_columns, extension
from wirelab.schema.campaign import EntryStatus, read_journal, read_plan
from wirelab.schema.records import sync_records
from wirelab.stats.dataset import Dataset as Samples

Build = Callable[[Records], Dataset]


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "campaign", {"s": {}})


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Build:
    def finish(records: Records) -> Dataset:
        monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
        return build(records.folder)

    return finish


def test_columns_are_the_documented_ones_in_order(records: Records, built: Build) -> None:
    records.trial("s", [exchange()], [flow(40_000)])
    dataset = built(records)
    keys = ["trial", "scenario", "block", "replicate", "lane"]
    metrics = [metric.column for metric in EXCHANGE_METRICS]
    columns = exchange_columns(["request-response"])
    assert dataset.exchanges.columns == [*keys, *columns, "download_bytes", "disturbed", *metrics]


PUBSUB = {"kind": "pubsub", "message_bytes": 30, "messages": 1}


@pytest.mark.parametrize(
    ("workloads", "present"),
    [
        ([{}], {"curl_starttransfer_ns", "program_end_ns", "place_ns", "attempts"}),
        ([PUBSUB], {"copies"}),
        ([PUBSUB, {}], {"copies", "curl_starttransfer_ns", "program_end_ns", "place_ns", "attempts"}),
    ],
)
def test_the_dataset_has_the_extensions_of_its_workloads_and_no_other(
    workloads: list[dict[str, Any]], present: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenarios = {str(number): {"workload": each} if each else {} for number, each in enumerate(workloads)}
    records = Records(tmp_path / "campaign", scenarios)
    for number, each in enumerate(workloads):
        records.trial(str(number), [exchange(**({"copies": 1} if each else {}))])
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    dataset = measure(records.folder)
    every = {name for kind in EXTENDED for name in extension(kind)}
    assert every & set(dataset.exchanges.columns) == present
    assert dataset.exchanges["delivery_delay_ns"].count() == len([each for each in workloads if each])
    assert dataset.exchanges["page_connections"].null_count() == len(dataset.exchanges)
    assert len(Samples.read(records.folder).exchanges) == len(workloads)


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
    assert rows["wire_up_bytes"].to_list() == [700, 700]


def test_exchanges_share_the_bytes_of_a_persistent_connection(records: Records, built: Build) -> None:
    records.trial("s", [exchange(i, local_port=40_000) for i in range(4)], [flow(40_000)])
    assert built(records).exchanges["wire_up_bytes"].to_list() == [175.0] * 4


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


def test_a_trial_has_its_outcomes_counted_and_its_link_and_resources(records: Records, built: Build) -> None:
    outcomes = ["completed", "completed", "failed", "timed-out"]
    records.trial("s", [exchange(i, outcome=outcome) for i, outcome in enumerate(outcomes)])
    [row] = built(records).trials.to_dicts()
    assert (row["completed"], row["failed"], row["timed_out"], row["unsupported"]) == (2, 1, 1, 0)
    assert (row["up_received"], row["up_lost"], row["down_delivered"], row["up_received_bytes"]) == (100, 2, 98, 9000)
    assert (row["lateness_p50_ns"], row["lateness_p99_ns"], row["lateness_max_ns"]) == (10_000, 3 * MS, 3 * MS)
    assert (row["client_cpu_ns"], row["server_peak_memory_bytes"], row["duration_ns"]) == (4 * MS, 5000, 500 * MS)
    assert row["excluded"] is False


def test_a_cpu_limit_is_reported_and_its_throttling_is_not_cpu_waiting(records: Records, built: Build) -> None:
    trial = records.trial("s", [exchange()])
    path = records.folder / "trials" / trial / "result.json"
    result = json.loads(path.read_text())
    for endpoint in result["endpoints"]:
        endpoint["run_delay_ns"] = 7 * MS
    limit = {"quota_ns": MS, "period_ns": 10 * MS, "periods": 40, "throttled_periods": 30, "throttled_ns": 90 * MS}
    path.write_text(json.dumps({**result, "cpu_limits": {"client": limit}}))
    [row] = built(records).trials.to_dicts()
    assert (row["client_quota_periods"], row["client_throttled_periods"], row["client_throttled_ns"]) == (
        40,
        30,
        90 * MS,
    )
    assert (row["client_run_delay_ns"], row["server_run_delay_ns"]) == (None, 7 * MS)
    assert row["server_throttled_ns"] is None


def test_a_trial_s_log_is_replayed(records: Records, built: Build) -> None:
    records.trial("s", [exchange()])
    wrong = records.trial("s", [exchange()])
    (records.folder / "trials" / records.trial("s", [exchange()]) / "packets.wlpl").unlink()
    records.trial("s", [exchange()], status=EntryStatus.FAILED)
    records.mismatches = {wrong: 3}
    trials = built(records).trials
    assert trials["replay_packets"].to_list() == [200, 200, None, None]
    assert trials["replay_mismatches"].to_list() == [0, 3, None, None]
    assert trials["up_log_corrupted"].to_list() == [2, 2, None, None]
    assert trials["down_log_reordered"].to_list() == [1, 1, None, None]


def test_a_failed_trial_is_a_row_without_exchanges(records: Records, built: Build) -> None:
    records.trial("s", [exchange()], status=EntryStatus.FAILED, error="killed")
    records.trial("s", [exchange()])
    dataset = built(records)
    assert dataset.exchanges["trial"].to_list() == ["trial-1"]
    assert dataset.trials.select("status", "error").rows() == [("failed", "killed"), ("done", None)]


def test_exchanges_of_an_unfinished_trial_are_counted_separately(records: Records, built: Build) -> None:
    records.trial("s", [exchange(0), exchange(1)], status=EntryStatus.FAILED)
    torn = records.trial("s", [exchange()], status=EntryStatus.TIMED_OUT)
    (records.folder / "trials" / torn / "client" / "exchanges.jsonl").write_text('{"index": 0, "outc')
    records.trial("s", [exchange()])
    trials = built(records).trials
    assert trials["uncounted"].to_list() == [2, None, 0]
    assert trials["completed"].to_list() == [0, 0, 1]


def test_a_discarded_attempt_is_an_excluded_row_next_to_the_one_that_counts(records: Records, built: Build) -> None:
    trial = records.trial("s", [exchange()], status=EntryStatus.DISCARDED, error="the link was late")
    folder = records.folder / "trials" / trial
    aside = folder.rename(folder.with_name(f"{trial}.discarded-1"))
    records.entry(trial, "s", EntryStatus.DONE, attempt=2)
    shutil.copytree(aside, folder)
    rows = built(records).trials.select("trial", "excluded", "exclusion", "up_received").rows()
    assert rows == [(trial, False, None, 100), (aside.name, True, "the link was late", 100)]


def test_entries_of_a_scenario_that_left_the_plan_are_left_out(records: Records, built: Build) -> None:
    records.trial("s", [exchange()])
    records.entry("trial-0", "what it was before", EntryStatus.DISCARDED)
    records.entry("trial-99", "s", EntryStatus.DONE)
    assert built(records).trials["trial"].to_list() == ["trial-0"]


def test_a_trial_to_be_repeated_has_no_row(records: Records, built: Build) -> None:
    records.trial("s", [exchange()])
    records.trial("s", [], status=EntryStatus.CANCELLED)
    assert built(records).trials["trial"].to_list() == ["trial-0"]


def test_an_arrow_file_and_lines_of_json_give_the_same_rows(records: Records, built: Build) -> None:
    rows = [exchange(0), exchange(1, first_final_byte_ns=None, outcome="failed", error="reset")]
    records.trial("s", rows, [flow(40_000), flow(40_001)])
    from_lines = built(records).exchanges
    client = records.folder / "trials" / "trial-0" / "client"
    (client / "exchanges.jsonl").unlink()
    pl.DataFrame(rows, infer_schema_length=None).write_ipc(client / "exchanges.arrow")
    assert build(records.folder).exchanges.equals(from_lines)


def test_a_campaign_without_a_finished_trial_says_so(records: Records, built: Build) -> None:
    with pytest.raises(WirelabError, match="no trial has finished"):
        built(records)


def test_measure_writes_both_tables(records: Records, built: Build) -> None:
    records.trial("s", [exchange()], [flow(40_000)])
    built(records)
    measure(records.folder)
    assert pl.read_parquet(records.folder / "exchanges.parquet")["end_to_end_delay_ns"].to_list() == [63 * MS]
    assert len(pl.read_parquet(records.folder / "trials.parquet")) == 1


def test_the_values_for_the_stopping_rule_are_by_trial_with_timeouts_as_infinite(
    records: Records, built: Build
) -> None:
    records.trial("s", [exchange(0), exchange(1, outcome="timed-out"), exchange(2, outcome="failed")])
    records.trial("s", [exchange(0, end_ns=100)])
    records.trial("s", [exchange()], status=EntryStatus.FAILED)
    built(records)
    plan = read_plan(records.folder)
    delay = next(metric for metric in EXCHANGE_METRICS if metric.name == "end-to-end-delay")
    assert values_so_far(records.folder, plan, "s", delay) == [[63 * MS, float("inf")], [100 * MS]]


@pytest.mark.parametrize("name", ["end-to-end-delay-largest", "phase-connect"])
def test_a_time_out_that_is_not_of_the_metric_is_not_infinite_for_the_stopping_rule(
    tmp_path: Path, built: Build, name: str
) -> None:
    records = Records(tmp_path / "campaign", {"s": {"workload": IN_TURN}})
    records.trial("s", [exchange(0), exchange(1, outcome="timed-out")])
    built(records)
    measure(records.folder)
    [metric] = [each for each in EXCHANGE_METRICS if each.name == name]
    [values] = values_so_far(records.folder, read_plan(records.folder), "s", metric)
    measured = {one.metric.name: one for one in Samples.read(records.folder).measured("s")}
    assert len(values) == 1
    assert values == [pytest.approx(1e9 * measured[name].sample.values[0])]
    assert measured[name].sample.censored == (0,)


IN_TURN = {"kind": "request-response", "upload_bytes": 0, "download_bytes": [11_000_000, 612], "timeout_ns": 10**9}


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


def digests(records: Records) -> None:
    """Give each entry of the journal the digests of its records."""
    path = records.folder / "journal.jsonl"
    entries = [
        entry.model_copy(update={"records": sync_records(records.folder / "trials" / entry.trial)})
        for entry in read_journal(path)[0]
    ]
    path.write_text("".join(entry.model_dump_json() + "\n" for entry in entries))


@pytest.mark.parametrize("named", [True, False], ids=["with digests", "of an earlier version"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("result.json", None), ("result.json", b""), ("client/exchanges.jsonl", None),
        ("client/exchanges.jsonl", b'{"ind'), ("client/settings-seen.json", b'{"cli'),
    ],
)  # fmt: skip
def test_a_trial_with_a_damaged_record_is_left_out_and_named(
    records: Records, built: Build, name: str, content: bytes | None, named: bool
) -> None:
    for _ in range(3):
        trial = records.trial("s", [exchange()])
        (records.folder / "trials" / trial / "client" / "settings-seen.json").write_text("{}")
    if named:
        digests(records)
    path = records.folder / "trials" / "trial-1" / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    dataset = built(records)
    assert dataset.exchanges["trial"].to_list() == ["trial-0", "trial-2"]
    assert dataset.trials["status"].to_list() == ["done", "damaged", "done"]
    words = damage_words(dataset.trials)
    assert words is not None
    assert words.startswith("1 trial is left out because of damaged records (trial-1: its record ")
    assert words.endswith(". The same run command runs it again.")
    samples = Samples(records.folder, read_plan(records.folder), dataset.exchanges, dataset.trials)
    counted = samples.outcomes("s")
    assert (counted["trials"], counted["failed_trials"], counted["exchanges"]) == (3, 1, 2)


def test_nothing_of_an_unusable_trial_counts(records: Records, built: Build) -> None:
    records.trial("s", [exchange()])
    records.trial("s", [exchange()], status=EntryStatus.UNUSABLE, error="a timer may have fired")
    dataset = built(records)
    assert dataset.exchanges["trial"].to_list() == ["trial-0"]
    assert dataset.trials["status"].to_list() == ["done", "unusable"]


def test_a_discarded_attempt_with_a_torn_result_is_a_row(records: Records, built: Build) -> None:
    records.trial("s", [exchange()])
    trial = records.trial("s", status=EntryStatus.DISCARDED, error="its record result.json is missing")
    folder = records.folder / "trials" / trial
    (folder / "result.json").write_bytes(b"")
    folder.rename(folder.with_name(f"{trial}.discarded-1"))
    rows = built(records).trials.select("status", "excluded", "exclusion", "up_received").rows()
    assert rows[1] == ("discarded", True, "its record result.json is missing", None)
