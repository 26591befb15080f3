"""From a campaign's tables to estimates.json."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.errors import WirelabError
from wirelab.metrics import tables
from wirelab.metrics.tables import write_table
from wirelab.stats.analyze import analyze


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_campaign(tmp_path_factory.mktemp("c"), uploads=("30 B",), trials=6, exchanges=20, timed_out=0.02)


@pytest.fixture(scope="module")
def estimates(campaign: Path) -> dict[str, Any]:
    made = analyze(campaign)
    assert json.loads((campaign / "estimates.json").read_text()) == made
    return made


def _scenario(estimates: dict[str, Any], protocol: str, link: str) -> dict[str, Any]:
    return next(
        s for s in estimates["scenarios"] if s["levels"]["protocol"] == protocol and s["levels"]["link"] == link
    )


def test_a_mean_counts_time_outs_at_the_time_out_and_a_deviation_leaves_them_out(
    campaign: Path, estimates: dict[str, Any]
) -> None:
    scenario = _scenario(estimates, "h2", "random")
    rows = pl.read_parquet(campaign / "exchanges.parquet").filter(pl.col("scenario") == scenario["key"])
    delays = rows["end_to_end_delay_ns"].drop_nulls().to_numpy() / 1e9
    found = scenario["metrics"]["end-to-end-delay"]
    assert found["unit"] == "s"
    horizon = found["horizon_s"]
    time_outs = len(rows) - len(delays)
    assert time_outs
    whole = delays.sum() + time_outs * horizon
    assert found["mean"]["point"] == pytest.approx(whole / len(rows))
    assert found["mean"]["method"].endswith(f"time-outs counted at {horizon:g} s")
    assert found["time_outs_in_mean"] == pytest.approx(time_outs * horizon / whole)
    assert found["late_share"]["point"] == pytest.approx(((delays > 1).sum() + time_outs) / len(rows))
    assert found["sd"]["method"].startswith("descriptive")
    assert found["sd"]["point"] == pytest.approx(delays.std(ddof=1))
    late = np.concatenate([np.sort(delays), np.full(len(rows) - len(delays), np.inf)])
    assert found["median"]["point"] == pytest.approx(float(late[59] + late[60]) / 2)
    assert found["n"] == 120


def test_a_note_warns_where_time_outs_make_more_than_five_percent_of_a_mean(estimates: dict[str, Any]) -> None:
    [note] = [note for note in estimates["notes"] if "the horizon decides" in note]
    shares = [s["metrics"]["end-to-end-delay"]["time_outs_in_mean"] for s in estimates["scenarios"]]
    assert f"in {sum(share > 0.05 for share in shares)} of {len(shares)} scenarios" in note
    assert f"{max(shares):.0%}" in note


def test_completed_and_attempted_count_every_outcome(estimates: dict[str, Any]) -> None:
    for scenario in estimates["scenarios"]:
        counts = scenario["denominators"]
        assert counts["exchanges"] == 120
        assert counts["completed"] + counts["timed-out"] == 120
        assert counts["trials"] == 6
        assert counts["excluded_trials"] == 0


def test_protocols_are_compared_on_each_link_and_not_across_links(estimates: dict[str, Any]) -> None:
    link = {scenario["key"]: scenario["levels"]["link"] for scenario in estimates["scenarios"]}
    found = [c for c in estimates["comparisons"] if c["metric"] == "end-to-end-delay"]
    assert len(found) == 9
    assert all(link[c["a"]] == link[c["b"]] for c in found)
    assert {c["family"]["size"] for c in found} == {9}


def test_links_are_reported_configured_and_measured_in_both_directions(estimates: dict[str, Any]) -> None:
    rows = {(row["link_name"], row["direction"]): row for row in estimates["links"]}
    assert len(rows) == 6
    random = rows["random", "uplink"]
    assert random["configured"] == {"delay_s": 0.01, "loss": 0.1, "rate_bps": None}
    assert random["measured"]["loss"]["low"] < 0.1 < random["measured"]["loss"]["high"]
    assert random["measured"]["delay_error_s"]["p99"] < 10e-6
    assert random["flag"] == "good"


def test_the_timing_error_is_given_for_each_job(estimates: dict[str, Any]) -> None:
    assert [row["lane"] for row in estimates["link_lateness"]] == [0, 1]
    assert all(row["p50_s"] <= row["p99_s"] <= row["p999_s"] <= row["max_s"] for row in estimates["link_lateness"])


def test_the_published_rule_counts_what_it_removed(tmp_path: Path, estimates: dict[str, Any]) -> None:
    folder = write_campaign(
        tmp_path, protocols=("raw-tcp",), links=("burst",), uploads=("30 B",), trials=6, exchanges=20
    )
    scenario = analyze(folder)["scenarios"][0]
    rule = scenario["metrics"]["end-to-end-delay"]["published_rule"]
    hit = pl.read_parquet(folder / "exchanges.parquet").filter(pl.col("lost_packets") > 0)
    assert rule["retransmission_hit"] == len(hit)
    assert rule["removed_retransmission_hit"] == len(hit)
    assert rule["removed"] >= len(hit) > 0
    assert rule["mean"]["point"] < scenario["metrics"]["end-to-end-delay"]["mean"]["point"]
    assert _scenario(estimates, "http1", "burst")["metrics"]["retransmissions"]["published_rule"] is None


def test_modes_are_the_steps_of_retransmission_time_outs(estimates: dict[str, Any]) -> None:
    modes = _scenario(estimates, "http1", "random")["metrics"]["end-to-end-delay"]["modes"]
    assert len(modes) >= 3
    assert modes[0]["high"] < 0.05
    assert modes[1]["low"] > 0.2
    assert sum(mode["share"]["point"] for mode in modes) == pytest.approx(1)


def test_a_note_says_that_exchanges_timed_out(estimates: dict[str, Any]) -> None:
    assert any("timed out" in note for note in estimates["notes"])


def test_estimates_are_given_as_tables_too(campaign: Path, estimates: dict[str, Any]) -> None:
    table = pl.read_parquet(campaign / "estimates.parquet")
    assert table.equals(pl.read_csv(campaign / "estimates.csv", schema=table.schema))
    scenario = estimates["scenarios"][0]
    row = table.filter(
        (pl.col("scenario") == scenario["key"])
        & (pl.col("metric") == "end-to-end-delay")
        & (pl.col("statistic") == "median")
    ).row(0, named=True)
    assert row["point"] == scenario["metrics"]["end-to-end-delay"]["median"]["point"]
    exchanges = pl.read_csv(campaign / "exchanges.csv", infer_schema_length=None)
    assert len(exchanges) == 9 * 120
    for rows in (table, exchanges):
        assert set(rows["protocol"]) == {"http1", "h2", "h3"}
        assert set(rows["client"]) == set(rows["server"]) == {"builtin"}


def test_excluded_trials_are_left_out_and_counted_by_protocol(tmp_path: Path) -> None:
    folder = write_campaign(
        tmp_path, protocols=("h2", "h3"), links=("random",), uploads=("30 B",), trials=6, exchanges=5
    )
    trials = pl.read_parquet(folder / "trials.parquet")
    out = trials["trial"][0]
    is_out = pl.col("trial") == out
    trials.with_columns(
        excluded=is_out, exclusion=pl.when(is_out).then(pl.lit("the link was late")).otherwise(None)
    ).pipe(write_table, folder / "trials.parquet")
    made = analyze(folder)
    counts = {scenario["protocol"]: scenario["denominators"] for scenario in made["scenarios"]}
    assert counts["h2"]["trials"] == 5
    assert counts["h2"]["excluded_trials"] == 1
    assert counts["h2"]["exchanges"] == 25
    assert counts["h3"]["exchanges"] == 30
    assert "Attempts that were run again and do not count, by protocol: h2 1." in made["notes"]


def test_a_trial_with_kernel_drops_makes_its_link_unusable(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=3, exchanges=5)
    trials = pl.read_parquet(folder / "trials.parquet").with_columns(kernel_drops=pl.lit(2, pl.Int64))
    trials.pipe(write_table, folder / "trials.parquet")
    assert {row["flag"] for row in analyze(folder)["links"]} == {"unusable"}


def test_packets_that_a_capture_lacks_are_reported(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=3, exchanges=5)
    trials = pl.read_parquet(folder / "trials.parquet").with_columns(left_out_of_captures=pl.lit(4, pl.Int64))
    trials.pipe(write_table, folder / "trials.parquet")
    assert [note for note in analyze(folder)["notes"] if note.startswith("12 packets are missing from captures")]


def test_another_scenario_changes_no_number_of_the_first(tmp_path: Path) -> None:
    wanted = {"links": ("random",), "uploads": ("30 B",), "trials": 3, "exchanges": 5}
    both = write_campaign(tmp_path / "both", protocols=("h2", "h3"), **wanted)  # type: ignore[arg-type]
    made = analyze(both)
    plan = json.loads((both / "plan.json").read_text())
    plan["scenarios"] = plan["scenarios"][:1]
    kept = plan["scenarios"][0]["key"]
    for block in plan["blocks"]:
        block["trials"] = [trial for trial in block["trials"] if trial["scenario"] == kept]
    (both / "plan.json").write_text(json.dumps(plan))
    assert analyze(both)["scenarios"] == made["scenarios"][:1]


def test_a_campaign_that_was_not_measured_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(WirelabError) as caught:
        analyze(tmp_path)
    assert "exchanges.parquet" in str(caught.value)
    assert "wirelab run FILE" in str(caught.value)


def test_a_table_of_another_build_is_refused_with_what_to_do(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=1, exchanges=1)
    pl.read_parquet(folder / "trials.parquet").drop("uncounted").pipe(write_table, folder / "trials.parquet")
    with pytest.raises(
        WirelabError, match=r"trials.parquet was written by another build, or damaged: it has no column uncounted"
    ) as e:
        analyze(folder)
    assert e.value.hint == f"wirelab measure {folder}"


@pytest.mark.parametrize(("trials", "exchanges", "timed_out"), [(1, 1, 0.0), (1, 30, 0.0), (2, 1, 0.0), (3, 4, 1.0)])
def test_the_file_is_valid_however_few_data_there_are(
    tmp_path: Path, trials: int, exchanges: int, timed_out: float
) -> None:
    folder = write_campaign(tmp_path, uploads=("30 B",), trials=trials, exchanges=exchanges, timed_out=timed_out)
    made = analyze(folder)
    assert any("trial" in note for note in made["notes"])
    for comparison in made["comparisons"]:
        assert comparison["metric"] == "response-time-curl" or 0 < comparison["p"] <= 1
        if trials * exchanges < 2:
            assert comparison["ratio_of_means"]["low"] is None


def test_a_scenario_with_only_failed_trials_stays_in_the_counts_without_estimates(tmp_path: Path) -> None:
    folder = write_campaign(
        tmp_path, protocols=("h2", "h3"), links=("random",), uploads=("30 B",), trials=3, exchanges=5
    )
    trials, exchanges = (pl.read_parquet(folder / name) for name in ("trials.parquet", "exchanges.parquet"))
    lost = next(s for s in json.loads((folder / "plan.json").read_text())["scenarios"] if s["protocol"] == "h2")["key"]
    failed = pl.when(pl.col("scenario") == lost).then(pl.lit("failed")).otherwise("status")
    uncounted = pl.when(pl.col("scenario") == lost).then(pl.lit(2)).otherwise("uncounted")
    trials.with_columns(status=failed, uncounted=uncounted).pipe(write_table, folder / "trials.parquet")
    exchanges.filter(pl.col("scenario") != lost).pipe(write_table, folder / "exchanges.parquet")
    made = analyze(folder)
    scenario = next(s for s in made["scenarios"] if s["key"] == lost)
    assert scenario["metrics"] == {}
    counts = scenario["denominators"]
    assert (counts["exchanges"], counts["trials"], counts["failed_trials"]) == (0, 3, 3)
    assert counts["exchanges_of_failed_trials"] == 6
    assert "Trials not done, by protocol: h2 3." in made["notes"]
    assert made["comparisons"] == []
    unsupported = pl.when(pl.col("scenario") == lost).then(pl.lit("unsupported")).otherwise("status")
    trials.with_columns(status=unsupported).pipe(write_table, folder / "trials.parquet")
    made = analyze(folder)
    counts = next(s for s in made["scenarios"] if s["key"] == lost)["denominators"]
    assert (counts["trials"], counts["failed_trials"], counts["unsupported_trials"]) == (3, 0, 3)
    assert "Trials of what is not supported, by protocol: h2 3." in made["notes"]
    assert not any(note.startswith("Trials not done") for note in made["notes"])
    stalled = pl.when(pl.col("scenario") == lost).then(pl.lit("unusable")).otherwise("status")
    trials.with_columns(status=stalled).pipe(write_table, folder / "trials.parquet")
    notes = analyze(folder)["notes"]
    assert "Trials left out because the link was so late that a timer may have fired, by protocol: h2 3." in notes
    assert not any(note.startswith("Trials not done") for note in notes)


def test_a_torn_result_of_a_discarded_or_damaged_trial_stops_no_analysis(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, protocols=("h2",), links=("random",), uploads=("30 B",), trials=4, exchanges=2)
    trials = pl.read_parquet(folder / "trials.parquet")
    discarded, damaged = trials["trial"].to_list()[:2]
    status = pl.when(pl.col("trial") == damaged).then(pl.lit("damaged")).otherwise("status").alias("status")
    trials.with_columns(status, excluded=pl.col("trial") == discarded).pipe(write_table, folder / "trials.parquet")
    whole = analyze(folder)["link_lateness"]
    for trial in (discarded, damaged):
        (folder / "trials" / trial / "result.json").write_text("{")
    assert len(analyze(folder)["link_lateness"]) == len(whole) == 2


def test_trials_that_were_not_compared_with_packets_are_counted_with_the_reason(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, protocols=("h2",), links=("random",), uploads=("30 B",), trials=3, exchanges=2)
    trials = pl.read_parquet(folder / "trials.parquet")
    why = pl.when(pl.col("replicate") > 0).then(pl.lit("netem says nothing")).alias("not_checked")
    trials.with_columns(why).pipe(write_table, folder / "trials.parquet")
    words = "What the client says of 2 trials was not compared with packets: netem says nothing."
    assert words in analyze(folder)["notes"]


@pytest.mark.parametrize(("disturbed", "flag"), [(0.5, "unusable"), (0.0, "good")])
def test_a_difference_must_be_there_without_the_exchanges_that_the_emulator_disturbed(
    tmp_path: Path, disturbed: float, flag: str
) -> None:
    folder = write_campaign(
        tmp_path, protocols=("h2", "h3"), links=("random",), uploads=("30 B",), trials=8, exchanges=10
    )
    exchanges = pl.read_parquet(folder / "exchanges.parquet")
    slow = next(s for s in json.loads((folder / "plan.json").read_text())["scenarios"] if s["protocol"] == "h3")["key"]
    late = (pl.col("scenario") == slow) & (pl.col("index") < 6)
    delay = pl.when(late).then(900_000_000).otherwise(100_000_000 + 1000 * pl.col("replicate") + pl.col("index") % 2)
    marks = late if disturbed else pl.lit(value=False)
    exchanges.with_columns(end_to_end_delay_ns=delay, disturbed=marks).pipe(write_table, folder / "exchanges.parquet")
    made = analyze(folder)
    [comparison] = [c for c in made["comparisons"] if c["metric"] == "end-to-end-delay"]
    quality = comparison["link"]
    assert quality["flag"] == flag
    words = "the difference does not survive taking away 48 of 80 exchanges during which the link was late"
    assert (quality["why"] == words) == bool(disturbed)
    assert quality["causes"] == ["the link", "disturbed exchanges"] * bool(disturbed)
    notes = [note for note in made["notes"] if note.startswith("The link was late during 48 of 160 exchanges")]
    assert len(notes) == bool(disturbed)


def test_a_scenario_with_only_timeouts_is_compared_and_not_left_out(tmp_path: Path) -> None:
    folder = write_campaign(
        tmp_path, protocols=("h2", "h3"), links=("random",), uploads=("30 B",), trials=6, exchanges=5
    )
    exchanges = pl.read_parquet(folder / "exchanges.parquet")
    late = next(s for s in json.loads((folder / "plan.json").read_text())["scenarios"] if s["protocol"] == "h2")["key"]
    is_late = pl.col("scenario") == late
    delays = [
        pl.when(~is_late).then(pl.col(c)).alias(c) for c in exchanges.columns if c.startswith(("end_to_end", "resp"))
    ]
    outcome = pl.when(is_late).then(pl.lit("timed-out")).otherwise("outcome").alias("outcome")
    exchanges.with_columns(outcome, *delays).pipe(write_table, folder / "exchanges.parquet")
    made = analyze(folder)
    metrics = next(s for s in made["scenarios"] if s["key"] == late)["metrics"]
    assert metrics["end-to-end-delay"]["n"] == 30
    assert metrics["end-to-end-delay"]["median"]["point"] is None
    assert "above the time-out" in metrics["end-to-end-delay"]["median"]["method"]
    assert "response-time-curl" not in metrics
    [comparison] = [c for c in made["comparisons"] if c["metric"] == "end-to-end-delay"]
    assert abs(comparison["cliffs_delta"]["point"]) == 1
    assert comparison["p"] < 0.01
    assert comparison["ratio_of_means"]["point"] is None


def test_a_campaign_that_ranks_by_a_percentile_compares_it_in_the_headline_metric_alone(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, protocols=("http1", "h2"), links=("random",), uploads=("30 B",), trials=6)
    plan = json.loads((folder / "plan.json").read_text())
    plan["experiment"]["statistic"] = "p90"
    (folder / "plan.json").write_text(json.dumps(plan))
    made: dict[str, Any] = analyze(folder)  # type: ignore[assignment]
    assert made["statistic"] == "p90"
    delays = pl.read_parquet(folder / "exchanges.parquet").group_by("scenario").agg(pl.col("end_to_end_delay_ns") / 1e9)
    p90 = {key: float(np.quantile(values, 0.9)) for key, values in delays.iter_rows()}
    for scenario in made["scenarios"]:
        found = scenario["metrics"]["end-to-end-delay"]["quantiles"]["0.9"]
        assert found["point"] == pytest.approx(p90[scenario["key"]])
    [headline] = [each for each in made["comparisons"] if each["metric"] == "end-to-end-delay"]
    ratio = headline["ratio_of_percentiles"]
    assert ratio["point"] == pytest.approx(p90[headline["a"]] / p90[headline["b"]])
    assert ratio["low"] < ratio["point"] < ratio["high"]
    assert headline["link_of_percentiles"]["flag"] in ("good", "limited", "unusable")
    assert all("ratio_of_percentiles" not in each for each in made["comparisons"] if each is not headline)


def test_one_disturbed_exchange_does_not_take_a_percentile_its_quality(tmp_path: Path) -> None:
    folder = write_campaign(
        tmp_path, protocols=("h2", "h3"), links=("random",), uploads=("30 B",), trials=10, exchanges=10
    )
    plan = json.loads((folder / "plan.json").read_text())
    plan["experiment"]["statistic"] = "p95"
    (folder / "plan.json").write_text(json.dumps(plan))
    slow = next(each["key"] for each in plan["scenarios"] if each["protocol"] == "h3")
    times = pl.when(pl.col("scenario") == slow).then(2).otherwise(1)
    delay = times * (100_000_000 + 10_000 * pl.col("replicate") + 100_000 * pl.col("index"))
    first = (pl.col("scenario") == slow) & (pl.col("replicate") == 0) & (pl.col("index") == 0)
    exchanges = pl.read_parquet(folder / "exchanges.parquet")
    exchanges.with_columns(end_to_end_delay_ns=delay, disturbed=first).pipe(write_table, folder / "exchanges.parquet")
    [headline] = [each for each in analyze(folder)["comparisons"] if each["metric"] == "end-to-end-delay"]
    assert headline["ratio_of_percentiles"]["n"] == 200
    assert "survive" not in headline["link_of_percentiles"]["why"]
    assert headline["link_of_percentiles"]["flag"] == headline["link"]["flag"] != "unusable"


def test_a_planted_link_in_place_of_an_answer_is_replaced_and_not_followed(campaign: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    answers = ("estimates.json", "estimates.csv", "estimates.parquet", "exchanges.csv")
    for name in answers:
        (campaign / name).unlink(missing_ok=True)
        (campaign / name).symlink_to(victim)
    analyze(campaign)
    assert victim.read_text() == "untouched"
    assert not any((campaign / name).is_symlink() for name in answers)


def test_exchanges_that_stay_on_the_disk_give_the_same_answers(
    campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    shutil.copytree(campaign, other)
    analyze(campaign)
    monkeypatch.setattr(tables, "HELD_ROWS", 0)
    monkeypatch.setattr("wirelab.stats.analyze.CSV_ROWS", 3)
    analyze(other)
    for name in ("estimates.json", "estimates.csv", "exchanges.csv"):
        assert (other / name).read_bytes() == (campaign / name).read_bytes()
