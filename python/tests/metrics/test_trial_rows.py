"""Trials as rows of `trials.parquet`."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.metrics.conftest import Build
from tests.metrics.records import MS, Records, exchange
from wirelab.metrics.trial_rows import damage_words
from wirelab.schema.campaign import EntryStatus, read_journal, read_plan
from wirelab.schema.records import sync_records
from wirelab.stats.dataset import Dataset as Samples


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
    samples = Samples(records.folder, read_plan(records.folder), dataset.exchanges.lazy(), dataset.trials)
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
